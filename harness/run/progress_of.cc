#include "harness/run/progress_of.h"

#include <cstdint>

#include "harness/measure/l2.h"

namespace mailbench {
namespace {

std::uint64_t CallsSince(const Heartbeat& heartbeat, std::uint64_t before) {
  return Read(heartbeat.slot()).calls - before;
}

}  // namespace

std::vector<double> ExpectedSeconds(const PlanEstimate& estimate) {
  std::vector<double> seconds;
  for (const PartEstimate& part : estimate.parts) seconds.push_back(part.seconds);
  return seconds;
}

std::string NameOf(const PointKey& key) {
  const bool controlled = key.l2 != kL2NotControlled;
  return key.algorithm + ' ' + key.mode + (controlled ? ' ' + key.l2 : "") + ' ' +
         ToString(key.shape);
}

ProgressPart ProgressOfPoint(const PointKey& key, const PartEstimate& estimate,
                             const Heartbeat& heartbeat) {
  const std::uint64_t before = heartbeat.state().calls;
  return {.name = NameOf(key), .share = [&heartbeat, before, all = estimate.calls] {
            return static_cast<double>(CallsSince(heartbeat, before)) / all;
          }};
}

ProgressPart ProgressOfStress(const std::string& algorithm, const PartEstimate& estimate,
                              const Heartbeat& heartbeat) {
  const std::uint64_t before = heartbeat.state().calls;
  const double all = estimate.calls;
  return {.name = "stress of " + algorithm,
          .share = [&heartbeat, before,
                    all] { return static_cast<double>(CallsSince(heartbeat, before)) / all; },
          .detail =
              [&heartbeat, before, all] {
                return std::to_string(CallsSince(heartbeat, before)) + " of " +
                       std::to_string(static_cast<std::uint64_t>(all)) + " calls";
              }};
}

}  // namespace mailbench
