#include "harness/run/points.h"

#include <algorithm>

#include "harness/error.h"

namespace mailbench {

SweepPlan PlanSweep(const Collective& collective, const RunConfig& config,
                    const std::string& transport, int ranks) {
  SweepPlan plan;
  const std::vector<std::string>& named = config.algorithms;
  for (const AlgorithmInfo& info : collective.algorithms()) {
    const std::string name(info.name);
    const bool is_named = std::find(named.begin(), named.end(), name) != named.end();
    if (!named.empty() && !is_named) continue;
    if (named.empty() && info.known_bad) continue;
    const auto reason = collective.UnsupportedReason(name, transport, ranks);
    if (!reason) {
      plan.algorithms.push_back(name);
    } else if (is_named) {
      throw MachineError("algorithm " + name + " cannot run here: " + *reason);
    } else {
      plan.skipped.push_back({name, *reason});
    }
  }
  if (plan.algorithms.empty()) {
    throw MachineError("no algorithm of " + std::string(collective.name()) +
                       " can run here: " + plan.skipped.front().reason);
  }
  for (const Shape& shape : collective.Shapes(config, ranks)) {
    for (const Mode mode : config.modes) {
      for (const std::string& algorithm : plan.algorithms) {
        PointKey key;
        key.collective = collective.name();
        key.algorithm = algorithm;
        key.transport = transport;
        key.mode = ToString(mode);
        key.shape = shape;
        key.ranks = ranks;
        plan.points.push_back({key, mode});
      }
    }
  }
  return plan;
}

std::string ListAlgorithms(const Collective& collective, const std::string& transport, int ranks) {
  std::string text =
      std::string(collective.name()) + ": " + std::string(collective.summary()) + "\nalgorithms\n";
  for (const AlgorithmInfo& info : collective.algorithms()) {
    text += "  " + std::string(info.name) + ": " + std::string(info.summary);
    if (info.known_bad) text += " (known bad: runs only when named)";
    if (const auto reason = collective.UnsupportedReason(info.name, transport, ranks)) {
      text += " (cannot run here: " + *reason + ")";
    }
    text += "\n";
  }
  return text;
}

std::string ListPoints(const SweepPlan& plan, const RunConfig& config) {
  std::string text = std::to_string(plan.points.size()) + " points, " +
                     std::to_string(config.warmup) + " warm-up samples each\n";
  for (const SweepPoint& point : plan.points) {
    const bool graph = point.mode == Mode::kGraph;
    text += "  " + ToString(point.key) + ", " +
            std::to_string(graph ? config.replays : config.iters) + " samples of " +
            std::to_string(graph ? config.calls_per_graph : 1) + " calls\n";
  }
  return text;
}

}  // namespace mailbench
