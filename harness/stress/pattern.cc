#include "harness/stress/pattern.h"

#include <algorithm>
#include <cmath>

namespace mailbench {
namespace {

constexpr double kWeightOfAByte = 1 << 30;

}  // namespace

const char* ToString(StressPattern pattern) {
  switch (pattern) {
    case StressPattern::kPeriod2:
      return "period 2";
    case StressPattern::kPeriod3:
      return "period 3";
    case StressPattern::kRandom:
      return "random";
    case StressPattern::kLargeThenTiny:
      return "one large, then tiny";
    case StressPattern::kOdd:
      return "odd number in a graph";
  }
  return "unknown";
}

SizeDraw::SizeDraw(std::span<const Shape> shapes, std::uint64_t seed)
    : shapes_(shapes), generator_(seed) {
  std::uint64_t sum = 0;
  for (const Shape& shape : shapes_) {
    const double weight = kWeightOfAByte / std::sqrt(static_cast<double>(shape.bytes_per_rank));
    sum += static_cast<std::uint64_t>(weight) + 1;
    up_to_.push_back(sum);
  }
}

std::size_t SizeDraw::Index() {
  // Not by a distribution of the standard library: they differ from library to library.
  const std::uint64_t at = generator_() % up_to_.back();
  return static_cast<std::size_t>(std::upper_bound(up_to_.begin(), up_to_.end(), at) -
                                  up_to_.begin());
}

std::size_t SizeDraw::IndexOtherThan(std::size_t index) {
  if (shapes_.size() == 1) return index;
  std::size_t other = index;
  while (other == index) other = Index();
  return other;
}

const Shape& SizeDraw::Any() { return shapes_[Index()]; }

// Sizes that repeat, of which kRandom has none.
std::vector<std::size_t> SizeDraw::Period(StressPattern pattern) {
  std::vector<std::size_t> period = {Index()};
  period.push_back(IndexOtherThan(period[0]));
  if (pattern == StressPattern::kPeriod3) period.push_back(IndexOtherThan(period[1]));
  return period;
}

// `index`, or the largest below it that leaves room for the smallest calls behind it: for all
// `tiny` of them, or for half of the budget full.
std::size_t SizeDraw::LargeWithin(std::size_t index, std::int64_t tiny, std::int64_t budget) const {
  const std::int64_t behind = std::min(tiny * shapes_.front().bytes_total, budget / 2);
  while (index > 0 && shapes_[index].bytes_total > budget - behind) --index;
  return index;
}

std::vector<Shape> SizeDraw::Graph(StressPattern pattern, int calls, std::int64_t budget) {
  if (pattern == StressPattern::kOdd && calls % 2 == 0) --calls;
  const std::vector<std::size_t> period = Period(pattern);
  const std::size_t large = LargeWithin(IndexOtherThan(0), calls - 1, budget);
  std::vector<Shape> graph;
  for (std::size_t call = 0; call < static_cast<std::size_t>(calls); ++call) {
    std::size_t index = period[call % period.size()];
    if (pattern == StressPattern::kRandom) index = Index();
    if (pattern == StressPattern::kLargeThenTiny) index = call == 0 ? large : 0;
    budget -= shapes_[index].bytes_total;
    if (call > 0 && budget < 0) break;
    graph.push_back(shapes_[index]);
  }
  // The budget may have ended it.
  if (pattern == StressPattern::kOdd && graph.size() % 2 == 0) graph.pop_back();
  return graph;
}

}  // namespace mailbench
