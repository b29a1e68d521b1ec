// How far long work is: one line that is redrawn on a terminal, a line now and then anywhere else.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "harness/report/screen.h"

namespace mailbench {

struct ProgressView {
  std::size_t done = 0;  // parts
  std::size_t total = 0;
  double elapsed_s = 0;
  std::optional<double> left_s;
  std::string current;  // the part that is under way, and how far it is
};

// "[3/24] 12 s, about 40 s left: lamport graph bytes=1024, 45 %".
std::string FormatProgress(const ProgressView& view);

// A part of the work.
struct ProgressPart {
  std::string name;
  // How much of it is done, 0 to 1. Empty: not known. It and `detail` are called by other threads.
  std::function<double()> share = nullptr;
  std::function<std::string()> detail = nullptr;  // instead of the share, in words
};

struct ProgressTimes {
  std::function<double()> now_s;                 // seconds; by default a steady clock
  std::chrono::milliseconds redraw_every{1000};  // 0: only when Tick is called
  std::chrono::seconds line_every{60};           // where there is no terminal
};

// Work in parts that are done in their order. All but Tick is for one thread; at most one lives at
// any time.
class Progress {
 public:
  // `expected_s`: how long each part should take, roughly; all 0 where nothing is known, and the
  // time left is not shown then. A thread of its own redraws.
  Progress(Screen screen, std::vector<double> expected_s, ProgressTimes times = {});
  // Erases the line.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // The next part is not done: it was, by an earlier run.
  void Skip();
  void Begin(ProgressPart part);
  // Adds to what is shown of the part, instead of the note before.
  void Note(std::string note);
  // The part is done. Frees the line for other output.
  void End();

  // Redraws, or writes a line where that is due.
  void Tick();

 private:
  friend void StopShowingProgress();

  ProgressView View() const;
  void Draw();
  void Erase();
  void Write(const std::string& text) const;
  void RedrawNowAndThen();

  const Screen screen_;
  const std::vector<double> expected_s_;
  const ProgressTimes times_;
  const double start_s_;
  // Guarded by the mutex of all that is shown.
  std::optional<ProgressPart> current_;
  std::string note_;
  std::size_t done_ = 0;
  double skipped_s_ = 0;        // expected of the parts that were skipped
  double expected_done_s_ = 0;  // of those that were done
  double taken_s_ = 0;          // by them
  double current_start_s_ = 0;
  double last_line_s_;
  bool shown_ = false;
  bool silent_ = false;
  bool ending_ = false;
  std::condition_variable_any wake_;
  std::thread thread_;
};

// Erases the line of the process's Progress, if there is one, for good, so that what else is
// written has the line to itself. From any thread, whatever the others are stuck in.
void StopShowingProgress();

}  // namespace mailbench
