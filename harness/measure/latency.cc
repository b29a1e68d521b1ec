#include "harness/measure/latency.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>

#include "harness/measure/statistics.h"

namespace mailbench {
namespace {

constexpr std::size_t kWordsPerSample = sizeof(double) / sizeof(std::uint32_t);

void RequireSamples(std::span<const std::vector<double>> us_by_rank) {
  if (us_by_rank.empty()) throw std::invalid_argument("a latency of no ranks");
  for (std::size_t rank = 0; rank < us_by_rank.size(); ++rank) {
    const std::vector<double>& own_us = us_by_rank[rank];
    const std::string name = "rank " + std::to_string(rank);
    if (own_us.empty()) throw std::invalid_argument(name + " has no samples");
    if (own_us.size() != us_by_rank[0].size()) {
      throw std::invalid_argument(name + " has " + std::to_string(own_us.size()) +
                                  " samples, rank 0 has " + std::to_string(us_by_rank[0].size()));
    }
    const auto nan =
        std::find_if(own_us.begin(), own_us.end(), [](double us) { return std::isnan(us); });
    if (nan != own_us.end()) {
      throw std::invalid_argument(name + "'s sample " + std::to_string(nan - own_us.begin()) +
                                  " is not a number");
    }
  }
}

// The lowest of those that took longest.
std::size_t RankThatTookLongest(std::span<const std::vector<double>> us_by_rank,
                                std::size_t sample) {
  std::size_t longest = 0;
  for (std::size_t rank = 1; rank < us_by_rank.size(); ++rank) {
    if (us_by_rank[rank][sample] > us_by_rank[longest][sample]) longest = rank;
  }
  return longest;
}

}  // namespace

std::vector<std::vector<double>> GatherSamples(const std::vector<double>& own_us,
                                               const Ranks& ranks) {
  const std::size_t words = own_us.size() * kWordsPerSample;
  std::vector<std::uint32_t> own(words);
  std::memcpy(own.data(), own_us.data(), own_us.size() * sizeof(double));
  const auto size = static_cast<std::size_t>(ranks.size());
  std::vector<std::uint32_t> all(words * size);
  ranks.GatherWords(own, all);
  std::vector<std::vector<double>> us_by_rank(size, std::vector<double>(own_us.size()));
  for (std::size_t rank = 0; rank < size; ++rank) {
    std::memcpy(us_by_rank[rank].data(), all.data() + rank * words, words * sizeof(all[0]));
  }
  return us_by_rank;
}

void SummarizeLatency(std::span<const std::vector<double>> us_by_rank, PointRecord& record) {
  RequireSamples(us_by_rank);
  record.per_rank.clear();
  for (const std::vector<double>& own_us : us_by_rank) {
    const Summary own = Summarize(own_us);
    record.per_rank.push_back({own.min, own.p50, own.max, 0});
  }
  const std::size_t samples = us_by_rank[0].size();
  record.samples_us.clear();
  for (std::size_t sample = 0; sample < samples; ++sample) {
    const std::size_t longest = RankThatTookLongest(us_by_rank, sample);
    record.samples_us.push_back(us_by_rank[longest][sample]);
    ++record.per_rank[longest].longest;
  }
  record.latency_us = Summarize(record.samples_us);
  record.p50_interval_us = IntervalOfMedian(record.samples_us);

  const Shape& shape = record.key.shape;
  record.algbw_gb_per_s = static_cast<double>(shape.bytes_total) / record.latency_us.p50 * 1e-3;
  record.busbw_gb_per_s = record.algbw_gb_per_s * shape.bus_factor;
}

}  // namespace mailbench
