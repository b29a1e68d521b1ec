// The order of sizes in which a stress run makes its calls. Protocols that depend on the size of
// a call fail when sizes alternate in some ways and not in others: calls that use one part of a
// mailbox in turn hide it when they all have one size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "harness/collective/shape.h"

namespace mailbench {

enum class StressPattern {
  kPeriod2,
  kPeriod3,
  kRandom,
  kLargeThenTiny,  // one call of a large size, then the smallest
  kOdd,            // an odd number of calls in a graph, so that each replay finds the sizes shifted
};
inline constexpr StressPattern kStressPatterns[] = {
    StressPattern::kPeriod2, StressPattern::kPeriod3, StressPattern::kRandom,
    StressPattern::kLargeThenTiny, StressPattern::kOdd};
const char* ToString(StressPattern pattern);  // "period 2"

// Draws sizes: the same on every rank for a seed. A size is drawn the less often the larger it is
// (by the square root), since small calls are what interleaves.
class SizeDraw {
 public:
  // REQUIRES: shapes are not empty, of ascending bytes_per_rank > 0, and outlive the object.
  SizeDraw(std::span<const Shape> shapes, std::uint64_t seed);

  const Shape& Any();
  // As many calls as a graph is to have; one less where the pattern wants an odd number, but at
  // least one. Fewer when the outputs of more would take more than `budget` bytes, of which a
  // large call before tiny ones leaves them half, if they need that.
  std::vector<Shape> Graph(StressPattern pattern, int calls, std::int64_t budget);

 private:
  std::size_t Index();
  std::size_t IndexOtherThan(std::size_t index);
  std::size_t LargeWithin(std::size_t index, std::int64_t tiny, std::int64_t budget) const;
  std::vector<std::size_t> Period(StressPattern pattern);

  std::span<const Shape> shapes_;
  std::vector<std::uint64_t> up_to_;  // by shape: its weight and those of all before it
  std::mt19937_64 generator_;
};

}  // namespace mailbench
