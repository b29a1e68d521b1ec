#include "src/protocol_checker/checker.h"

#include <cstdio>
#include <exception>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/error.h"
#include "harness/report/file.h"
#include "harness/report/prepare.h"
#include "harness/report/progress.h"
#include "harness/report/report.h"
#include "kernels/machine/adversary/minimise.h"
#include "src/protocol_checker/interrupt.h"
#include "src/protocol_checker/model_json.h"
#include "src/protocol_checker/models.h"
#include "src/protocol_checker/options.h"
#include "src/protocol_checker/parallel_search.h"
#include "src/protocol_checker/report.h"
#include "src/protocol_checker/text.h"
#include "src/protocol_checker/timeline.h"

namespace mailbench {
namespace {

void Print(const std::string& text) {
  if (std::fputs(text.c_str(), stdout) < 0 || std::fflush(stdout) != 0) {
    throw SystemError("cannot write to standard output");
  }
}

// Refuses now what could not be written after a long search.
void RequireWritable(const std::string& path, bool force) {
  if (path.empty()) return;
  ReportOptions options;
  options.path = path;
  options.force = force;
  PrepareReport(options, {});
}

void WriteIfAsked(const std::string& path, const std::string& text) {
  if (!path.empty()) WriteReport(path, text);
}

// Shows a violation by running its schedule again.
void ShowFinding(const Model& model, const WorldRules& rules, const Finding& finding,
                 const std::string& trace_path) {
  constexpr std::size_t kMostEvents = 60;
  std::vector<Event> trace;
  const std::unique_ptr<ModelWorld> world = model.make(finding.scenario, rules);
  const ScheduleResult result = Replay(world->world(), finding.schedule, &trace);
  if (!result.violation || result.violation->property != finding.violation.property) {
    throw SystemError("the schedule does not show the same again: " +
                      (result.violation ? result.violation->text : "no violation"));
  }
  const std::vector<Event> events = EventsInQuestion(trace, *result.violation);
  Print("\n" + std::string(ToString(result.violation->property)) + ": " + result.violation->text +
        "\nscenario  " + Describe(finding.scenario) + "\nschedule  " + Describe(finding.schedule) +
        "\n\n   step\n" + ShortTimelineText(events, kMostEvents) + "\n" +
        std::to_string(events.size()) + " of " + std::to_string(trace.size()) +
        " events; --trace FILE writes all\n");
  WriteIfAsked(trace_path, TimelineText(trace));
}

SearchRecord SearchBy(StrategyKind kind, const CheckerCase& searched, const CheckerOptions& options,
                      Progress& progress, const Interrupt& interrupt) {
  SearchOptions search;
  search.kind = kind;
  search.seed = options.seed;
  search.schedules =
      options.schedules > 0 ? options.schedules : std::numeric_limits<std::uint64_t>::max();
  search.delay_bound = options.delay_bound;
  search.seconds = options.seconds;
  search.goes_on = [&](std::uint64_t) { return !interrupt.heard(); };
  SearchRecord record;
  record.searched = searched;
  record.kind = kind;
  progress.Begin({searched.model->name + ' ' + ToString(kind)});
  record.result = SearchInParallel(
      *searched.model, searched.scenario, options.rules, search, options.jobs,
      [&](std::uint64_t schedules) { progress.Note(std::to_string(schedules) + " schedules"); });
  progress.End();
  return record;
}

// What is left after the first `done` searches.
void PrintNotRun(const CheckerOptions& options, std::size_t done) {
  const std::size_t strategies = options.strategies.size();
  std::string text;
  for (std::size_t i = (done + strategies - 1) / strategies; i < options.cases.size(); ++i) {
    const CheckerCase& each = options.cases[i];
    text += (text.empty() ? "" : ", ") + each.model->name + " with " +
            std::to_string(each.scenario.ranks) + (each.scenario.ranks == 1 ? " rank" : " ranks");
  }
  if (!text.empty()) Print("not run: " + text + "\n");
}

// Until one finds a violation, or the interrupt.
std::vector<SearchRecord> SearchByAll(const CheckerOptions& options, const Interrupt& interrupt) {
  std::vector<SearchRecord> records;
  // Where no time is set, none is expected: how many steps a schedule takes is not known.
  Progress progress(
      FindScreen(),
      std::vector<double>(options.cases.size() * options.strategies.size(), options.seconds));
  for (const CheckerCase& each : options.cases) {
    Print((records.empty() ? "" : "\n") +
          HeadText(each.model->name, each.model->summary, each.scenario, options.rules) +
          TableHead());
    for (const StrategyKind kind : options.strategies) {
      records.push_back(SearchBy(kind, each, options, progress, interrupt));
      Print(TableLine(kind, options.delay_bound, records.back().result));
      if (records.back().result.total.violation || interrupt.heard()) {
        PrintNotRun(options, records.size());
        return records;
      }
    }
  }
  return records;
}

void ShowViolation(const CheckerOptions& options, SearchRecord& record,
                   const Interrupt& interrupt) {
  const SearchResult& total = record.result.total;
  const Model& model = *record.searched.model;
  const Finding found = {record.searched.scenario, total.schedule, *total.violation};
  Print("\nfound by " + Describe(found.schedule) + ": " + found.violation.text + "\nminimising\n");
  MinimiseBudget budget;
  budget.goes_on = [&] { return !interrupt.heard(); };
  record.minimised = Minimise(model, options.rules, found, budget);
  WriteIfAsked(options.save_replay,
               SavedScheduleText({model.name, options.rules, *record.minimised}));
  ShowFinding(model, options.rules, *record.minimised, options.trace);
}

// What was cut short, and by what; empty when nothing was.
std::string WhyCutShort(const Interrupt& interrupt, const SearchRecord& last) {
  if (!interrupt.heard()) return "";
  if (last.result.total.violation) return interrupt.Text() + " while minimising";
  return interrupt.Text() + " while searching by " + ToString(last.kind);
}

void TellInterrupt(const CheckerOptions& options, const std::string& reason) {
  const std::string more =
      options.json.empty() ? "" : "; the report " + options.json + " holds what was done";
  std::fprintf(stderr, "mailbench: interrupted: %s%s\n", reason.c_str(), more.c_str());
}

ExitCode Check(const CheckerOptions& options) {
  const Interrupt interrupt;
  for (const std::string& path : {options.json, options.save_replay, options.trace}) {
    RequireWritable(path, options.force);
  }
  const RunFacts facts = CheckerFacts(options);
  std::vector<SearchRecord> records = SearchByAll(options, interrupt);
  const bool violated = records.back().result.total.violation.has_value();
  if (violated) ShowViolation(options, records.back(), interrupt);
  const std::string interrupted = WhyCutShort(interrupt, records.back());
  WriteIfAsked(options.json, CheckerReport(options, facts, records, interrupted));
  if (!interrupted.empty()) TellInterrupt(options, interrupted);
  if (violated) return ExitCode::kWrong;
  return interrupted.empty() ? ExitCode::kPassed : ExitCode::kFailed;
}

std::string ReadSaved(const std::string& path) try {
  return ReadFile(path);
} catch (const SystemError& error) {
  throw UsageError(error.what());
}

ExitCode CheckAgain(const CheckerOptions& options, const std::vector<Model>& models) {
  RequireWritable(options.trace, options.force);
  const SavedSchedule saved = ReadSavedSchedule(ReadSaved(options.replay), options.replay);
  const Model* model = FindModel(models, saved.protocol);
  if (model == nullptr) {
    throw UsageError(options.replay + ": protocol " + saved.protocol + " is not known here");
  }
  Print(HeadText(model->name, model->summary, saved.finding.scenario, saved.rules));
  ShowFinding(*model, saved.rules, saved.finding, options.trace);
  return ExitCode::kWrong;
}

ExitCode RunWith(std::span<const char* const> args, const std::vector<Model>& models) {
  const CheckerOptions options = ReadCheckerOptions(args, models);
  if (!options.text.empty()) {
    Print(options.text);
    return ExitCode::kPassed;
  }
  return options.replay.empty() ? Check(options) : CheckAgain(options, models);
}

ExitCode Failed(const std::string& what, ExitCode code) {
  std::fprintf(stderr, "mailbench: %s\n", what.c_str());
  return code;
}

}  // namespace

int RunChecker(int argc, const char* const* argv, const std::vector<Model>& models) {
  ExitCode code = ExitCode::kFailed;
  try {
    code = RunWith({argv + 1, static_cast<std::size_t>(argc - 1)}, models);
  } catch (const Error& error) {
    code = Failed(error.what(), error.code());
  } catch (const std::exception& error) {
    code = Failed(error.what(), ExitCode::kFailed);
  }
  return static_cast<int>(code);
}

}  // namespace mailbench
