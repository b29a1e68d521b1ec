#include "harness/run/dry_run.h"

#include <array>
#include <cstddef>
#include <cstdio>

#include "harness/measure/l2.h"
#include "harness/measure/sweep_point.h"
#include "harness/report/amounts.h"

namespace mailbench {
namespace {

// Below this a duration is not worth a figure.
constexpr double kShortSeconds = 0.1;

std::string About(double seconds) {
  return seconds < kShortSeconds ? "< 0.1 s" : FormatDuration(seconds);
}

std::string Places(const PointKey& any) {
  return any.collective + " on transport " + any.transport + ", " + std::to_string(any.ranks) +
         (any.ranks == 1 ? " rank" : " ranks");
}

std::string MemoryText(const PlanEstimate& estimate) {
  std::string text = "# Memory a rank: " + FormatBytes(estimate.region_bytes) + " symmetric";
  std::string of;
  for (const AlgorithmMemory& memory : estimate.algorithms) {
    if (memory.symmetric_bytes == 0) continue;
    of += (of.empty() ? "" : ", ") + memory.algorithm + ' ' + FormatBytes(memory.symmetric_bytes);
  }
  if (!of.empty()) text += " (" + of + ')';
  return text + ", and buffers of up to " + FormatBytes(estimate.most_buffer_bytes) + " at once\n";
}

std::string DurationText(double seconds) {
  return "# Estimated duration: about " + FormatDuration(seconds) +
         ", from rough times a call; it may be several times as long or as short\n#\n";
}

std::string SkippedText(const std::vector<Skipped>& list) {
  std::string text;
  for (const Skipped& skipped : ByReason(list)) {
    text += "# Skipped " + skipped.algorithm +
            (skipped.shape ? ' ' + ToString(*skipped.shape) : "") + ": " + skipped.reason + '\n';
  }
  return text;
}

struct Columns {
  std::string shape, algorithm, mode, l2, samples, memory, duration;
};

std::string Row(const char* begin, const Columns& columns) {
  std::array<char, 512> text{};
  std::snprintf(text.data(), text.size(), "%s%-15s  %-15s %-9s %-8s %12s %11s %12s\n", begin,
                columns.shape.c_str(), columns.algorithm.c_str(), columns.mode.c_str(),
                columns.l2.c_str(), columns.samples.c_str(), columns.memory.c_str(),
                columns.duration.c_str());
  return text.data();
}

}  // namespace

std::string ListPoints(const SweepPlan& plan, const PlanEstimate& estimate, const RunConfig& config,
                       const std::set<std::string>& finished) {
  std::string rows;
  double seconds = estimate.set_up_seconds;
  for (std::size_t i = 0; i < plan.points.size(); ++i) {
    const SweepPoint& point = plan.points[i];
    const PartEstimate& part = estimate.parts[i];
    const bool done = finished.count(ToString(point.key)) > 0;
    if (!done) seconds += part.seconds;
    const std::string samples = std::to_string(SamplesPerPoint(point.mode, config)) + " x " +
                                std::to_string(CallsPerSample(point.mode, config));
    const std::string l2 = point.key.l2 == kL2NotControlled ? "-" : point.key.l2;
    rows += Row("  ", {ToString(point.key.shape), point.key.algorithm, point.key.mode, l2, samples,
                       FormatBytes(part.buffer_bytes), done ? "done before" : About(part.seconds)});
  }
  return "# " + Places(plan.points.front().key) + ": " + std::to_string(plan.points.size()) +
         " points, " + std::to_string(config.warmup) + " warm-up samples each\n" +
         SkippedText(plan.skipped) + MemoryText(estimate) + DurationText(seconds) +
         Row("# ", {"shape", "algorithm", "mode", "l2", "samples", "buffers", "estimated"}) +
         Row("# ", {"", "", "", "", "x calls", "(a rank)", "duration"}) + rows;
}

std::string ListStresses(const SweepPlan& plan, const PlanEstimate& estimate,
                         const RunConfig& config) {
  std::string rows;
  double seconds = estimate.set_up_seconds;
  for (std::size_t i = 0; i < plan.algorithms.size(); ++i) {
    const PartEstimate& part = estimate.parts[i];
    const std::vector<Shape> shapes = ShapesOf(plan.algorithms[i], plan);
    seconds += part.seconds;
    rows += "stress of " + plan.algorithms[i] + ": at least " + std::to_string(config.stress) +
            " calls, of " + std::to_string(shapes.size()) + " sizes from " +
            ToString(shapes.front()) + " to " + ToString(shapes.back()) + ", up to " +
            std::to_string(config.calls_per_graph) + " in a graph; buffers of up to " +
            FormatBytes(part.buffer_bytes) + " a rank, estimated duration " + About(part.seconds) +
            '\n';
  }
  return "# " + Places(plan.points.front().key) + '\n' + SkippedText(plan.skipped) +
         MemoryText(estimate) + DurationText(seconds) + rows;
}

}  // namespace mailbench
