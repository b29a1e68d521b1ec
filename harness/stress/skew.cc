#include "harness/stress/skew.h"

#include <cmath>

namespace mailbench {
namespace {

constexpr std::uint64_t kCallsASpin = 16;
constexpr double kShortestSleepMs = 1;
constexpr double kLongestSleepMs = 20;
// A host that is late for a second or two, once in so many rounds.
constexpr std::uint64_t kRoundsAVeryLateHost = 50;
constexpr double kShortestLongSleepMs = 500;
constexpr double kLongestLongSleepMs = 2000;

}  // namespace

double MeanLateSeconds() {
  const auto mean = [](double low, double high) { return (high - low) / std::log(high / low); };
  const double usual = mean(kShortestSleepMs, kLongestSleepMs);
  const double very = mean(kShortestLongSleepMs, kLongestLongSleepMs);
  return (usual + (very - usual) / kRoundsAVeryLateHost) * 1e-3;
}

double SkewDraw::Between(double low, double high) {
  // Not by a distribution of the standard library: they differ from library to library.
  const double share = static_cast<double>(generator_() >> 11) * 0x1p-53;
  return low * std::pow(high / low, share);
}

RoundSkew SkewDraw::Round(std::size_t slots, std::size_t steps) {
  const std::uint64_t round = rounds_++;
  const auto ranks = static_cast<std::uint64_t>(ranks_);
  RoundSkew skew;
  skew.spinning_rank = static_cast<int>(round % ranks);
  for (std::size_t slot = 0; slot < slots; ++slot) {
    skew.spins.push_back(generator_() % kCallsASpin == 0);
  }
  skew.spin_seed = generator_();
  skew.late_step = generator_() % steps;
  const bool very = round % kRoundsAVeryLateHost == kRoundsAVeryLateHost / 2;
  // Very late hosts are counted by themselves: else only some ranks would ever be one.
  const std::uint64_t turn = very ? round / kRoundsAVeryLateHost : round + 1;
  skew.late_rank = static_cast<int>(turn % ranks);
  const double sleep = very ? Between(kShortestLongSleepMs, kLongestLongSleepMs)
                            : Between(kShortestSleepMs, kLongestSleepMs);
  skew.late_by = std::chrono::milliseconds(std::llround(sleep));
  return skew;
}

}  // namespace mailbench
