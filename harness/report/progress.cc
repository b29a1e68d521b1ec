#include "harness/report/progress.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <numeric>
#include <system_error>
#include <utility>

#include "harness/report/amounts.h"
#include "harness/report/time_left.h"

namespace mailbench {
namespace {

constexpr const char* kEraseLine = "\r\x1b[K";
// A terminal that is held up is not waited for when a run ends.
constexpr std::chrono::milliseconds kSilencePatience{50};

// What is shown, in all of the process.
struct Shown {
  std::timed_mutex mutex;
  Progress* progress = nullptr;
};

Shown& TheShown() {
  static Shown shown;
  return shown;
}

double SteadySeconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

ProgressTimes WithClock(ProgressTimes times) {
  if (!times.now_s) times.now_s = SteadySeconds;
  return times;
}

std::string HowFar(const ProgressPart& part) {
  if (part.detail) return ", " + part.detail();
  if (!part.share) return "";
  const double percent = std::floor(100 * std::clamp(part.share(), 0.0, 1.0));
  return ", " + std::to_string(static_cast<int>(percent)) + " %";
}

}  // namespace

std::string FormatProgress(const ProgressView& view) {
  std::string text = '[' + std::to_string(view.done) + '/' + std::to_string(view.total) + "] " +
                     FormatDuration(view.elapsed_s);
  if (view.left_s) text += ", about " + FormatDuration(*view.left_s) + " left";
  return view.current.empty() ? text : text + ": " + view.current;
}

Progress::Progress(Screen screen, std::vector<double> expected_s, ProgressTimes times)
    : screen_(std::move(screen)),
      expected_s_(std::move(expected_s)),
      times_(WithClock(std::move(times))),
      start_s_(times_.now_s()),
      last_line_s_(start_s_) {
  const std::lock_guard lock(TheShown().mutex);
  TheShown().progress = this;
  if (times_.redraw_every.count() == 0) return;
  try {
    thread_ = std::thread([this] { RedrawNowAndThen(); });
  } catch (const std::system_error&) {  // the work is worth more than a view of it
  }
}

Progress::~Progress() {
  {
    const std::lock_guard lock(TheShown().mutex);
    ending_ = true;
    Erase();
    TheShown().progress = nullptr;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Progress::Skip() {
  const std::lock_guard lock(TheShown().mutex);
  skipped_s_ += expected_s_.at(done_);
  ++done_;
}

void Progress::Begin(ProgressPart part) {
  const std::lock_guard lock(TheShown().mutex);
  current_ = std::move(part);
  note_.clear();
  current_start_s_ = times_.now_s();
  Draw();
}

void Progress::Note(std::string note) {
  const std::lock_guard lock(TheShown().mutex);
  note_ = std::move(note);
  Draw();
}

void Progress::End() {
  const std::lock_guard lock(TheShown().mutex);
  taken_s_ += times_.now_s() - current_start_s_;
  expected_done_s_ += expected_s_.at(done_);
  ++done_;
  current_.reset();
  Erase();
}

void Progress::Tick() {
  const std::lock_guard lock(TheShown().mutex);
  if (!current_ || ending_) return;
  if (screen_.redraws()) {
    Draw();
    return;
  }
  const double now_s = times_.now_s();
  if (silent_ || now_s - last_line_s_ < static_cast<double>(times_.line_every.count())) return;
  last_line_s_ = now_s;
  Write("# " + FormatProgress(View()) + '\n');
}

ProgressView Progress::View() const {
  ProgressView view = {done_, expected_s_.size(), times_.now_s() - start_s_, std::nullopt, ""};
  if (!current_) return view;
  view.current = current_->name + HowFar(*current_) + (note_.empty() ? "" : ", " + note_);
  WorkDone work;
  work.expected_s = std::accumulate(expected_s_.begin(), expected_s_.end(), 0.0) - skipped_s_;
  work.expected_done_s = expected_done_s_;
  work.taken_s = taken_s_;
  work.current_expected_s = expected_s_.at(done_);
  work.current_taken_s = times_.now_s() - current_start_s_;
  if (current_->share) work.current_share = current_->share();
  view.left_s = TimeLeft(work);
  return view;
}

void Progress::Draw() {
  if (!screen_.redraws() || silent_) return;
  // A full last column would wrap on some terminals, and a line that wraps cannot be erased.
  Write(kEraseLine + FormatProgress(View()).substr(0, screen_.width() - 1));
  shown_ = true;
}

void Progress::Erase() {
  if (!shown_) return;
  Write(kEraseLine);
  shown_ = false;
}

// A terminal that has gone away is no reason to end a run.
void Progress::Write(const std::string& text) const {
  [[maybe_unused]] const ssize_t written = write(screen_.fd, text.data(), text.size());
}

void Progress::RedrawNowAndThen() {
  for (;;) {
    {
      std::unique_lock lock(TheShown().mutex);
      if (wake_.wait_for(lock, times_.redraw_every, [this] { return ending_; })) return;
    }
    Tick();
  }
}

void StopShowingProgress() {
  const std::unique_lock lock(TheShown().mutex, kSilencePatience);
  Progress* progress = lock.owns_lock() ? TheShown().progress : nullptr;
  if (progress == nullptr) return;
  progress->silent_ = true;
  progress->Erase();
}

}  // namespace mailbench
