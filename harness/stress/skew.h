// Ranks that are late in a stress: some calls of one rank begin late on its device, and one rank's
// host is late for a while. Which ranks they are goes round. Drawn from a seed, alike on all ranks.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <vector>

namespace mailbench {

// Of one round.
struct RoundSkew {
  int spinning_rank = 0;
  // By slot: whether its device begins the slot's calls later than it could; mostly not. By how
  // much is drawn for each of them where they run: DrawDelayNs (kernels/machine/drawn_delay.h).
  std::vector<bool> spins;
  std::uint64_t spin_seed = 0;
  int late_rank = 0;
  std::size_t late_step = 0;  // before which its host sleeps
  std::chrono::milliseconds late_by{0};
};

// By which ranks' hosts are late in a round, on average, seconds.
double MeanLateSeconds();

class SkewDraw {
 public:
  SkewDraw(int ranks, std::uint64_t seed) : ranks_(ranks), generator_(seed) {}

  // `steps`: launches of the round by a host, at least one.
  RoundSkew Round(std::size_t slots, std::size_t steps);

 private:
  // From `low` to `high`, small ones as often as large ones.
  double Between(double low, double high);

  int ranks_;
  std::uint64_t rounds_ = 0;
  std::mt19937_64 generator_;
};

}  // namespace mailbench
