// What the progress of a run shows of its parts.
#pragma once

#include <string>
#include <vector>

#include "harness/report/point_record.h"
#include "harness/report/progress.h"
#include "harness/run/estimate.h"
#include "harness/watchdog/heartbeat.h"

namespace mailbench {

// By part.
std::vector<double> ExpectedSeconds(const PlanEstimate& estimate);

// As progress and diagnoses name a point: "lamport graph bytes=64".
std::string NameOf(const PointKey& key);

// How far a part is, both say from the calls that `heartbeat`, which outlives the part, has counted
// since now.
ProgressPart ProgressOfPoint(const PointKey& key, const PartEstimate& estimate,
                             const Heartbeat& heartbeat);
ProgressPart ProgressOfStress(const std::string& algorithm, const PartEstimate& estimate,
                              const Heartbeat& heartbeat);

}  // namespace mailbench
