#include "harness/watchdog/diagnosis.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <tuple>
#include <utility>

#include "harness/ranks/rank_list.h"

namespace mailbench {
namespace {

using Position = std::tuple<int, std::uint32_t, Phase, std::uint64_t, std::uint64_t>;

// How far a rank has come; the smaller is behind. Points come before phases, because the phases
// repeat for each point.
Position PositionOf(const RankSnapshot& snapshot) {
  const HeartbeatState& state = snapshot.state;
  if (snapshot.pid == 0) {
    return {0, 0, Phase::kStart, 0, 0};
  }
  if (state.phase >= Phase::kTearDown) {
    return {2, 0, state.phase, 0, state.meetings};
  }
  return {1, state.point, state.phase, state.calls, state.meetings};
}

bool IsFinished(const RankSnapshot& snapshot) {
  return snapshot.pid != 0 && snapshot.state.phase == Phase::kFinished;
}

bool IsDead(const RankSnapshot& snapshot) {
  return snapshot.pid != 0 && !snapshot.alive && !IsFinished(snapshot);
}

bool IsStopped(const RankSnapshot& snapshot) { return snapshot.stopped && !IsFinished(snapshot); }

std::string Seconds(std::int64_t ns) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f s",
                static_cast<double>(std::max<std::int64_t>(ns, 0)) * 1e-9);
  return text.data();
}

bool IsInSweep(Phase phase) { return phase >= Phase::kCheck && phase <= Phase::kStress; }

// The calls that the rank entered last: "call 17", "calls 18-117" of one graph.
std::string LastCalls(const HeartbeatState& state) {
  const std::string last = std::to_string(state.calls);
  return state.at_once <= 1
             ? "call " + last
             : "calls " + std::to_string(state.calls - state.at_once + 1) + "-" + last;
}

// Of the point, or of the algorithm that is stressed.
std::string Name(const HeartbeatState& state) {
  if (!state.name.empty()) {
    return state.name;
  }
  return (state.phase == Phase::kStress ? "algorithm " : "point ") + std::to_string(state.point);
}

// What a rank does there: "check of point 3", "set-up".
std::string Stage(const HeartbeatState& state) {
  switch (state.phase) {
    case Phase::kStart:
      return "the start";
    case Phase::kReport:
      return "the report";
    case Phase::kFinished:
      return "the end of the run";
    case Phase::kSetUp:
    case Phase::kTearDown:
      return ToString(state.phase);
    case Phase::kStress:
      return "stress of " + Name(state);
    case Phase::kCheck:
    case Phase::kWarmUp:
    case Phase::kMeasure:
    case Phase::kAudit:
      break;
  }
  return std::string(ToString(state.phase)) + " of " + Name(state);
}

std::string PointAndPhase(const HeartbeatState& state) {
  if (state.phase == Phase::kStress) {
    return "(" + Stage(state) + ")";
  }
  return "(" + Name(state) + ", " + ToString(state.phase) + ")";
}

const char* Verb(std::span<const int> ranks, const char* one, const char* several) {
  return ranks.size() == 1 ? one : several;
}

std::string WaitLine(const std::vector<int>& waiting, const std::string& more) {
  if (waiting.empty()) {
    return "";
  }
  return "\n" + RankList(waiting) + Verb(waiting, " waits", " wait") + more;
}

std::string InStep(const std::string& step) { return step.empty() ? "" : ", in " + step; }

// Where a rank is, but for its step.
std::string Place(const HeartbeatState& state) {
  if (state.phase == Phase::kStart || state.phase == Phase::kFinished) {
    return "at " + Stage(state);
  }
  if (!IsInSweep(state.phase)) {
    return "in " + Stage(state);
  }
  if (state.calls == 0) {
    return "in " + Stage(state) + ", before its first call";
  }
  if (state.phase == Phase::kAudit) {
    return "in " + Stage(state) + ", after call " + std::to_string(state.calls);
  }
  return "in " + LastCalls(state) + " " + PointAndPhase(state);
}

// Where ranks at one position are: " (ranks 0, 2 in cuMemMap, rank 1 in no step)" where they are
// not in the same step. REQUIRES: at least one rank.
std::string PlaceOfAll(const std::vector<const RankSnapshot*>& ranks) {
  std::map<std::string, std::vector<int>> by_step;
  for (const RankSnapshot* snapshot : ranks) {
    by_step[snapshot->state.step].push_back(snapshot->rank);
  }
  if (by_step.size() == 1) {
    return Describe(ranks.front()->state);
  }
  std::string text;
  for (const auto& [step, its_ranks] : by_step) {
    text += (text.empty() ? "" : ", ") + RankList(its_ranks) + " in " +
            (step.empty() ? "no step" : step);
  }
  return Place(ranks.front()->state) + " (" + text + ")";
}

// What the ranks that are ahead have done and the ranks that are behind have not.
std::string Missed(const HeartbeatState& behind, const RankSnapshot& ahead) {
  const HeartbeatState& state = ahead.state;
  if (state.calls > behind.calls) {
    return "never entered call " + std::to_string(behind.calls + 1) +
           (state.calls == behind.calls + state.at_once && IsInSweep(state.phase)
                ? " " + PointAndPhase(state)
                : "");
  }
  if (state.phase == behind.phase && state.point == behind.point) {
    return "never came to where the ranks meet in " + Stage(state);
  }
  return "never came to " + Stage(state);
}

// `behind`: the ranks that are furthest behind, at one position; `others`: those that are ahead.
Diagnosis Hang(const std::vector<const RankSnapshot*>& behind,
               const std::vector<const RankSnapshot*>& others, std::int64_t now_ns,
               std::int64_t last_change_ns) {
  Diagnosis result;
  result.since_ns = last_change_ns;
  for (const RankSnapshot* snapshot : behind) {
    result.culprits.push_back(snapshot->rank);
  }
  for (const RankSnapshot* snapshot : others) {
    result.waiting.push_back(snapshot->rank);
  }
  const std::string who = RankList(result.culprits);
  const std::string silence = Seconds(now_ns - last_change_ns);
  const RankSnapshot& first_behind = *behind.front();
  const char* them = Verb(result.culprits, "it", "them");
  if (first_behind.pid == 0) {
    result.text = who + " never arrived in " + silence +
                  WaitLine(result.waiting, std::string(" for ") + them);
    return result;
  }
  const std::string where = PlaceOfAll(behind);
  if (others.empty()) {
    result.text =
        who + (behind.size() == 1 ? " is stuck " : " are all ") + where +
        (behind.size() == 1 ? ": it has not moved for " : ": none of them has moved for ") +
        silence;
    return result;
  }
  const RankSnapshot& nearest = **std::min_element(
      others.begin(), others.end(), [](const RankSnapshot* a, const RankSnapshot* b) {
        return std::pair(PositionOf(*a), a->state.since_ns) <
               std::pair(PositionOf(*b), b->state.since_ns);
      });
  result.text =
      who + " " + Missed(first_behind.state, nearest) +
      Verb(result.culprits, " and was last seen ", " and were last seen ") + silence + " ago " +
      where +
      WaitLine(result.waiting,
               std::string(" for ") + them + ", " + (others.size() == 1 ? "" : "the nearest ") +
                   Describe(nearest.state) + " for " + Seconds(now_ns - nearest.state.since_ns));
  return result;
}

// Of ranks that do nothing any more, as their processes show. `one`, `several`: what they did.
Diagnosis Loss(std::span<const RankSnapshot> snapshots, std::int64_t now_ns,
               bool (*is_lost)(const RankSnapshot&), const char* one, const char* several) {
  Diagnosis result;
  for (const RankSnapshot& snapshot : snapshots) {
    const std::int64_t since_ns = snapshot.state.since_ns;
    if (!is_lost(snapshot)) {
      if (!IsFinished(snapshot)) {
        result.waiting.push_back(snapshot.rank);
      }
      continue;
    }
    if (result.culprits.empty()) {
      result.text = "rank " + std::to_string(snapshot.rank) + " " + one + " (process " +
                    std::to_string(snapshot.pid) + "): last seen " + Seconds(now_ns - since_ns) +
                    " ago " + Describe(snapshot.state);
      result.since_ns = since_ns;
    }
    result.culprits.push_back(snapshot.rank);
  }
  if (result.culprits.size() > 1) {
    result.text += "\n" + RankList(result.culprits) + " " + several;
  }
  if (!result.waiting.empty()) {
    result.text += "\n" + RankList(result.waiting) + " cannot go on without " +
                   Verb(result.culprits, "it", "them");
  }
  return result;
}

}  // namespace

std::optional<Diagnosis> Diagnose(std::span<const RankSnapshot> snapshots, std::int64_t now_ns,
                                  std::int64_t timeout_ns, std::int64_t counting_from_ns) {
  if (std::any_of(snapshots.begin(), snapshots.end(), IsDead)) {
    return Loss(snapshots, now_ns, IsDead, "died", "died");
  }
  std::vector<const RankSnapshot*> behind;
  for (const RankSnapshot& snapshot : snapshots) {
    if (IsFinished(snapshot)) {
      continue;
    }
    if (!behind.empty() && PositionOf(snapshot) < PositionOf(*behind.front())) {
      behind.clear();
    }
    if (behind.empty() || PositionOf(snapshot) == PositionOf(*behind.front())) {
      behind.push_back(&snapshot);
    }
  }
  if (behind.empty()) {
    return std::nullopt;
  }
  std::int64_t last_change_ns = behind.front()->pid == 0 ? counting_from_ns : 0;
  for (const RankSnapshot* snapshot : behind) {
    last_change_ns = std::max(last_change_ns, snapshot->state.since_ns);
  }
  if (behind.front()->state.phase <= Phase::kSetUp) {
    timeout_ns = std::max(timeout_ns, kLeastSetUpNs);
  }
  if (now_ns - std::max(last_change_ns, counting_from_ns) <= timeout_ns) {
    return std::nullopt;
  }
  if (std::any_of(snapshots.begin(), snapshots.end(), IsStopped)) {
    return Loss(snapshots, now_ns, IsStopped, "is stopped", "are stopped");
  }
  std::vector<const RankSnapshot*> others;
  for (const RankSnapshot& snapshot : snapshots) {
    if (std::find(behind.begin(), behind.end(), &snapshot) == behind.end()) {
      others.push_back(&snapshot);
    }
  }
  return Hang(behind, others, now_ns, last_change_ns);
}

std::string Describe(const HeartbeatState& state) { return Place(state) + InStep(state.step); }

}  // namespace mailbench
