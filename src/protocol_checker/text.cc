#include "src/protocol_checker/text.h"

#include <array>
#include <cstdint>
#include <cstdio>

namespace mailbench {
namespace {

template <typename... Values>
std::string Format(const char* format, Values... values) {
  std::array<char, 160> text;
  std::snprintf(text.data(), text.size(), format, values...);
  return text.data();
}

template <typename Number>
std::string Joined(const std::vector<Number>& numbers) {
  std::string text;
  for (const Number number : numbers) text += (text.empty() ? "" : ", ") + std::to_string(number);
  return text;
}

std::string Counted(std::int64_t count, const std::string& thing) {
  return std::to_string(count) + " " + thing + (count == 1 ? "" : "s");
}

}  // namespace

std::string Describe(const Scenario& scenario) {
  std::string text = Counted(scenario.ranks, "rank") + ", " +
                     (scenario.sizes.size() == 1 ? "a call" : "calls") + " of " +
                     Joined(scenario.sizes) +
                     (scenario.sizes == std::vector<std::int64_t>{1} ? " pack" : " packs") +
                     " a rank, " + Counted(scenario.threads, "thread") + " a CTA, " +
                     (scenario.multicast ? "multicast" : "unicast");
  if (scenario.streams > 1) text += ", " + Counted(scenario.streams, "stream");
  if (scenario.producer) text += ", inputs by a kernel";
  if (scenario.replays > 1) text += ", replayed " + Counted(scenario.replays, "time");
  return text;
}

std::string Describe(const WorldRules& rules) {
  std::string text = rules.links_in_order ? "links in order" : "words land in any order";
  text += rules.store_buffers ? ", plain stores land late" : ", plain stores land at once";
  if (rules.lag > 0) {
    text += ", to mailboxes " + std::to_string(rules.lag) +
            (rules.lag == 1 ? " launch late" : " launches late");
  }
  text += rules.programmatic_launch ? ", programmatic launch" : ", no programmatic launch";
  if (rules.resident_ctas > 0) {
    text += ", " + Counted(rules.resident_ctas, "CTA") + " resident" +
            (rules.shared_gpu ? " on a GPU that all ranks share" : " a rank");
  }
  return text;
}

std::string Describe(const ScheduleId& schedule) {
  if (schedule.kind != StrategyKind::kExhaustive) {
    return std::string(ToString(schedule.kind)) + ", seed " + std::to_string(schedule.seed) +
           ", schedule " + std::to_string(schedule.number);
  }
  if (schedule.delays.empty()) return "exhaustive, no delay";
  return "exhaustive, " + Counted(static_cast<std::int64_t>(schedule.delays.size()), "delay") +
         ", at step " + Joined(schedule.delays);
}

std::string HeadText(const std::string& protocol, const std::string& summary,
                     const Scenario& scenario, const WorldRules& rules) {
  return "protocol  " + protocol + ": " + summary + "\nscenario  " + Describe(scenario) +
         "\nrules     " + Describe(rules) + "\n";
}

std::string TableHead() {
  return "\nstrategy      schedules   a second a worker   steps each   seconds\n";
}

std::string TableLine(StrategyKind kind, int delay_bound, const ParallelResult& result) {
  std::string text =
      Format("%-12s %10s %19.0f %12.1f %9.1f", ToString(kind),
             std::to_string(result.total.schedules).c_str(),
             result.schedules_per_second_per_worker(), result.steps_per_schedule(), result.seconds);
  if (kind == StrategyKind::kExhaustive) {
    text += result.total.exhausted ? "   all with up to " : "   not all with up to ";
    text += Counted(delay_bound, "delay");
  }
  if (result.total.violation) {
    text += std::string("   VIOLATION: ") + ToString(result.total.violation->property);
  }
  return text + "\n";
}

}  // namespace mailbench
