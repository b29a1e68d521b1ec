// What one point took, of every rank's own samples.
#pragma once

#include <span>
#include <vector>

#include "harness/ranks/ranks.h"
#include "harness/report/point_record.h"

namespace mailbench {

// Collective: every rank's samples, by rank, on every rank; microseconds a call.
// REQUIRES: as many on every rank, 1 to 2^28 - 1.
std::vector<std::vector<double>> GatherSamples(const std::vector<double>& own_us,
                                               const Ranks& ranks);

// Fills samples_us, latency_us, p50_interval_us, per_rank and the rates of `record` from
// us_by_rank[rank][sample], microseconds a call; the rates are of record.key.shape. Pure: every
// sample counts, none is taken for an outlier. REQUIRES: at least one rank, as many samples on
// every rank and at least one, none a NaN; otherwise std::invalid_argument, which names the rank.
void SummarizeLatency(std::span<const std::vector<double>> us_by_rank, PointRecord& record);

}  // namespace mailbench
