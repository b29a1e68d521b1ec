#include "harness/run/points.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "harness/error.h"

namespace mailbench {

namespace {

constexpr std::string_view kNoCold = "the caches of the host are not controlled";

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

// Whether points that are cold were asked for where caches are not controlled.
bool SkipsCold(const RunConfig& config, const Site& site) {
  return site.l2_bytes == 0 &&
         std::find(config.l2.begin(), config.l2.end(), L2State::kCold) != config.l2.end();
}

// The states of L2 in which points are measured.
std::vector<L2State> L2StatesOf(const RunConfig& config, const Site& site) {
  std::vector<L2State> states = config.l2;
  if (SkipsCold(config, site)) std::erase(states, L2State::kCold);
  if (states.empty()) throw MachineError("L2 cold cannot be had here: " + std::string(kNoCold));
  return states;
}

void SkipCold(const RunConfig& config, const Site& site, SweepPlan& plan) {
  if (!SkipsCold(config, site)) return;
  for (const std::string& algorithm : plan.algorithms) {
    plan.skipped.push_back({algorithm, std::nullopt, "with L2 cold: " + std::string(kNoCold)});
  }
}

// Of a mailbox, a call touches as much as one made for its size would have.
L2Footprint FootprintOf(const Collective& collective, const std::string& algorithm,
                        const Shape& shape, const RunConfig& config, const Site& site) {
  RunConfig just_so = config;
  just_so.capacity = shape.bytes_per_rank;
  L2Footprint footprint;
  footprint.l2_bytes = site.l2_bytes;
  footprint.ranks_per_gpu = site.ranks_per_gpu;
  footprint.mailbox_bytes =
      static_cast<std::int64_t>(collective.SymmetricBytes(algorithm, just_so, site));
  footprint.input_bytes = shape.bytes_per_rank;
  footprint.output_bytes = shape.bytes_total;
  return footprint;
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
  const std::vector<L2State> l2_states = L2StatesOf(config, site);
  plan.points_per_shape = config.modes.size() * l2_states.size();
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
      for (const L2State l2 : l2_states) {
        for (const std::string& algorithm : runnable) {
          SweepPoint point;
          point.mode = mode;
          point.l2 = UseL2(l2, FootprintOf(collective, algorithm, shape, config, site), mode,
                           CallsPerSample(mode, config));
          point.key.collective = collective.name();
          point.key.algorithm = algorithm;
          point.key.transport = site.transport;
          point.key.mode = ToString(mode);
          point.key.l2 = point.l2.state;
          point.key.shape = shape;
          point.key.ranks = site.ranks;
          plan.points.push_back(std::move(point));
        }
      }
    }
  }
  DropIdle(config, plan);
  SkipCold(config, site, plan);
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

}  // namespace mailbench
