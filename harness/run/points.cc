#include "harness/run/points.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "harness/error.h"

namespace mailbench {

namespace {

bool IsNamed(std::string_view algorithm, const RunConfig& config) {
  const std::vector<std::string>& named = config.algorithms;
  return std::find(named.begin(), named.end(), algorithm) != named.end();
}

bool IsAskedFor(const AlgorithmInfo& info, const RunConfig& config) {
  return config.algorithms.empty() ? !info.known_bad : IsNamed(info.name, config);
}

// Fills in plan.algorithms and what cannot run at all.
void PlanAlgorithms(const Collective& collective, const RunConfig& config, const Site& site,
                    SweepPlan& plan) {
  for (const AlgorithmInfo& info : collective.algorithms()) {
    if (!IsAskedFor(info, config)) continue;
    const std::string name(info.name);
    const auto reason = collective.UnsupportedReason(name, config, site);
    if (!reason) {
      plan.algorithms.push_back(name);
    } else if (IsNamed(name, config)) {
      throw MachineError("algorithm " + name + " cannot run here: " + *reason);
    } else {
      plan.skipped.push_back({name, std::nullopt, *reason});
    }
  }
  if (plan.algorithms.empty()) {
    throw MachineError("no algorithm of " + std::string(collective.name()) +
                       " can run here: " + plan.skipped.front().reason);
  }
}

// Leaves out the algorithms that no shape has left a point for.
void DropIdle(const RunConfig& config, SweepPlan& plan) {
  std::erase_if(plan.algorithms, [&](const std::string& name) {
    if (std::any_of(plan.points.begin(), plan.points.end(),
                    [&](const SweepPoint& point) { return point.key.algorithm == name; })) {
      return false;
    }
    const auto first = std::find_if(plan.skipped.begin(), plan.skipped.end(),
                                    [&](const Skipped& skip) { return skip.algorithm == name; });
    if (!config.algorithms.empty() || plan.points.empty()) {
      throw MachineError("algorithm " + name + " cannot run here: " + first->reason);
    }
    return true;
  });
}

}  // namespace

SweepPlan PlanSweep(const Collective& collective, const RunConfig& config, const Site& site) {
  SweepPlan plan;
  PlanAlgorithms(collective, config, site, plan);
  for (const Shape& shape : collective.Shapes(config, site.ranks)) {
    std::vector<std::string> runnable;
    for (const std::string& algorithm : plan.algorithms) {
      if (auto reason = collective.UnsupportedShape(algorithm, shape, config, site)) {
        plan.skipped.push_back({algorithm, shape, *std::move(reason)});
      } else {
        runnable.push_back(algorithm);
      }
    }
    for (const Mode mode : config.modes) {
      for (const std::string& algorithm : runnable) {
        PointKey key;
        key.collective = collective.name();
        key.algorithm = algorithm;
        key.transport = site.transport;
        key.mode = ToString(mode);
        key.shape = shape;
        key.ranks = site.ranks;
        plan.points.push_back({key, mode});
      }
    }
  }
  DropIdle(config, plan);
  return plan;
}

bool WantsMulticast(const Collective& collective, const RunConfig& config) {
  const std::span<const AlgorithmInfo> all = collective.algorithms();
  return std::any_of(all.begin(), all.end(), [&](const AlgorithmInfo& info) {
    return info.multicast && IsAskedFor(info, config);
  });
}

std::string ListAlgorithms(const Collective& collective, const RunConfig& config,
                           const Site& site) {
  std::string text =
      std::string(collective.name()) + ": " + std::string(collective.summary()) + "\nalgorithms\n";
  for (const AlgorithmInfo& info : collective.algorithms()) {
    text += "  " + std::string(info.name) + ": " + std::string(info.summary);
    if (info.known_bad) text += " (known bad: runs only when named)";
    if (const auto reason = collective.UnsupportedReason(info.name, config, site)) {
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
