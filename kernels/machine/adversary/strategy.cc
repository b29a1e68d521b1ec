#include "kernels/machine/adversary/strategy.h"

#include <algorithm>
#include <utility>

namespace mailbench {
namespace {

// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): one 64-bit state, any seed will do.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t Next() {
    state_ += 0x9e3779b97f4a7c15;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  std::size_t Below(std::size_t bound) { return static_cast<std::size_t>(Next() % bound); }

 private:
  std::uint64_t state_;
};

Random ForSchedule(std::uint64_t seed, std::uint64_t number) {
  return Random(Random(seed ^ (number * 0xd1342543de82ef95)).Next());
}

class Uniform : public Strategy {
 public:
  explicit Uniform(std::uint64_t seed) : seed_(seed), random_(seed) {}
  void Begin(std::uint64_t number) override { random_ = ForSchedule(seed_, number); }
  Step Choose(const StepOptions& options) override {
    const std::size_t threads = options.threads->size();
    const std::size_t choice = random_.Below(threads + options.words->size());
    return choice < threads ? Step{false, choice} : Step{true, choice - threads};
  }

 private:
  std::uint64_t seed_;
  Random random_;
};

class Biased : public Strategy {
 public:
  explicit Biased(std::uint64_t seed) : seed_(seed), random_(seed) {}
  void Begin(std::uint64_t number) override {
    random_ = ForSchedule(seed_, number);
    constexpr std::uint64_t kOneIn[] = {2, 8, 32, 128, 0};
    one_in_ = kOneIn[random_.Below(std::size(kOneIn))];
  }
  Step Choose(const StepOptions& options) override {
    const bool can_deliver = !options.words->empty();
    const bool can_run = !options.threads->empty();
    const bool wants = one_in_ != 0 && random_.Next() % one_in_ == 0;
    if (can_deliver && (wants || !can_run)) return {true, random_.Below(options.words->size())};
    return {false, random_.Below(options.threads->size())};
  }

 private:
  std::uint64_t seed_;
  std::uint64_t one_in_ = 2;  // 0: never
  Random random_;
};

class Pct : public Strategy {
 public:
  Pct(std::uint64_t seed, std::uint64_t steps) : seed_(seed), steps_(steps), random_(seed) {}
  void Begin(std::uint64_t number) override {
    random_ = ForSchedule(seed_, number);
    salt_ = random_.Next();
    step_ = 0;
    falls_.clear();
    fallen_.clear();
    const std::size_t count = 1 + random_.Below(3);
    for (std::size_t i = 0; i < count; ++i) falls_.push_back(random_.Below(steps_));
    std::sort(falls_.begin(), falls_.end());
  }
  Step Choose(const StepOptions& options) override {
    Step step = Highest(options);
    if (!falls_.empty() && step_ == falls_.front()) {
      falls_.erase(falls_.begin());
      fallen_.push_back(NameOf(options, step));
      step = Highest(options);
    }
    ++step_;
    return step;
  }

 private:
  static std::uint64_t NameOf(const StepOptions& options, const Step& step) {
    return step.deliver ? (std::uint64_t{1} << 32) | (*options.words)[step.index]
                        : (*options.threads)[step.index];
  }
  // The fallen ones are below all others, the later the lower.
  std::uint64_t Priority(std::uint64_t name) const {
    for (std::size_t later = 0; later < fallen_.size(); ++later) {
      if (fallen_[fallen_.size() - 1 - later] == name) return later;
    }
    return Random(salt_ ^ name).Next() | (std::uint64_t{1} << 63);
  }
  Step Highest(const StepOptions& options) const {
    Step best;
    std::uint64_t highest = 0;
    bool any = false;
    const auto consider = [&](Step step) {
      const std::uint64_t priority = Priority(NameOf(options, step));
      if (any && priority <= highest) return;
      any = true;
      highest = priority;
      best = step;
    };
    for (std::size_t i = 0; i < options.threads->size(); ++i) consider({false, i});
    for (std::size_t i = 0; i < options.words->size(); ++i) consider({true, i});
    return best;
  }

  std::uint64_t seed_;
  std::uint64_t steps_;
  Random random_;
  std::uint64_t salt_ = 0;
  std::uint64_t step_ = 0;
  std::vector<std::uint64_t> falls_;   // steps, ascending
  std::vector<std::uint64_t> fallen_;  // names, in the order of their fall
};

// The first of `names` that is not in `put_off`; names.size() when all are.
std::size_t FirstNotIn(const std::vector<std::uint32_t>& names,
                       const std::vector<std::uint32_t>& put_off) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (std::find(put_off.begin(), put_off.end(), names[i]) == put_off.end()) return i;
  }
  return names.size();
}

}  // namespace

std::unique_ptr<Strategy> MakeUniform(std::uint64_t seed) {
  return std::make_unique<Uniform>(seed);
}
std::unique_ptr<Strategy> MakeBiased(std::uint64_t seed) { return std::make_unique<Biased>(seed); }
std::unique_ptr<Strategy> MakePct(std::uint64_t seed, std::uint64_t steps) {
  return std::make_unique<Pct>(seed, std::max<std::uint64_t>(steps, 1));
}

void Delayed::Begin(std::uint64_t /*number*/) {
  step_ = 0;
  next_delay_ = 0;
  put_off_words_.clear();
  put_off_threads_.clear();
}

Step Delayed::Preferred(const StepOptions& options) {
  const std::size_t word = FirstNotIn(*options.words, put_off_words_);
  if (word < options.words->size()) return {true, word};
  if (options.threads->empty()) return {true, 0};  // a word that was put off: nothing else can move
  std::size_t thread = FirstNotIn(*options.threads, put_off_threads_);
  if (thread == options.threads->size()) {
    put_off_threads_.clear();
    thread = 0;
  }
  return {false, thread};
}

Step Delayed::Choose(const StepOptions& options) {
  Step step = Preferred(options);
  while (next_delay_ < delays_.size() && delays_[next_delay_] == step_) {
    ++next_delay_;
    if (step.deliver) {
      put_off_words_.push_back((*options.words)[step.index]);
    } else {
      put_off_threads_.push_back((*options.threads)[step.index]);
    }
    step = Preferred(options);
  }
  ++step_;
  return step;
}

}  // namespace mailbench
