// Who moves next: the decisions of one schedule. The scheduler asks at every step; the same answers
// give the same schedule.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace mailbench {

// What can happen next. Threads and words are named by numbers that do not depend on the history
// of the schedule, so that priorities can be drawn for them in advance.
struct StepOptions {
  const std::vector<std::uint32_t>* threads = nullptr;  // that can run, the one that ran last first
  const std::vector<std::uint32_t>* words = nullptr;    // on their way that may land, oldest first
};

// One of the options.
struct Step {
  bool deliver = false;   // a word; otherwise a thread
  std::size_t index = 0;  // into the list
};

class Strategy {
 public:
  virtual ~Strategy() = default;
  // Begins schedule number `number`.
  virtual void Begin(std::uint64_t number) = 0;
  // REQUIRES: at least one option.
  virtual Step Choose(const StepOptions& options) = 0;
};

// Every option is as likely as any other. For comparison: it finds rare interleavings too late.
std::unique_ptr<Strategy> MakeUniform(std::uint64_t seed);

// Each schedule draws how likely a word is to land while threads can run: 1/2, 1/8, 1/32, 1/128 or
// never. Words that land seldom are words that land late.
std::unique_ptr<Strategy> MakeBiased(std::uint64_t seed);

// Probabilistic concurrency testing (Burckhardt et al., ASPLOS 2010): each thread and each word has
// a random priority, the highest moves, and at one to three random steps the one that would move
// falls to the lowest. `steps`: about as many as a schedule has.
std::unique_ptr<Strategy> MakePct(std::uint64_t seed, std::uint64_t steps);

// Words land at once and threads run until they wait, but for the delays: at these steps, counted
// from 0 and ascending, what would move is put off: a word until nothing else can move, a thread
// behind all others that can run.
class Delayed : public Strategy {
 public:
  explicit Delayed(std::vector<std::uint64_t> delays) : delays_(std::move(delays)) {}
  void Begin(std::uint64_t number) override;
  Step Choose(const StepOptions& options) override;
  std::uint64_t steps() const { return step_; }

 private:
  Step Preferred(const StepOptions& options);

  std::vector<std::uint64_t> delays_;
  std::size_t next_delay_ = 0;
  std::uint64_t step_ = 0;
  std::vector<std::uint32_t> put_off_words_;
  std::vector<std::uint32_t> put_off_threads_;
};

}  // namespace mailbench
