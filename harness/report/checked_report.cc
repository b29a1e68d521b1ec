#include "harness/report/checked_report.h"

#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <sstream>
#include <utility>
#include <vector>

#include "harness/measure/statistics.h"
#include "harness/report/report.h"
#include "harness/report/report_json.h"

namespace mailbench::test {
namespace {

using nlohmann::json;

// A point whose figures are those of its samples.
PointRecord MeasuredPoint(std::int64_t bytes, int samples = 3) {
  PointRecord point = SamplePoint(bytes, samples);
  point.latency_us = Summarize(point.samples_us);
  point.p50_interval_us = IntervalOfMedian(point.samples_us);
  point.per_rank[2].longest = samples - 1;
  return point;
}

}  // namespace

Verdict Check(const std::string& paths) {
  const std::string command = std::string("python3 '") + MAILBENCH_CHECK_REPORT + "' " + paths;
  std::FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return {};
  Verdict verdict;
  std::array<char, 4096> text;
  for (std::size_t size = 0; (size = fread(text.data(), 1, text.size(), pipe)) > 0;) {
    verdict.output.append(text.data(), size);
  }
  const int status = pclose(pipe);
  if (WIFEXITED(status)) verdict.exit_code = WEXITSTATUS(status);
  return verdict;
}

bool Says(const Verdict& verdict, const std::string& path, const std::string& error) {
  std::istringstream lines(verdict.output);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(path + ": ") && line.find(error) != std::string::npos) return true;
  }
  return false;
}

std::string SampleReport(RunStatus status, const RunFacts& facts) {
  PointRecord unchecked = MeasuredPoint(16, 2000);
  unchecked.checked = false;
  PointRecord wrong = MeasuredPoint(32);
  wrong.busbw_gb_per_s = 1 / 0.0;
  wrong.kernels = {{"Kernel", 2}};
  wrong.key.mode = "isolated";
  wrong.key.l2 = "cold";
  wrong.l2_evicted = "input, output and mailbox";
  wrong.warmup = {15, false, {}};
  wrong.floor = Floor{.empty_kernel = {0.5, {0.5, 0.5, 0.96}},
                      .hop = FloorPart{1, {1, 1, 0.96}},
                      .publish_to_all = {0.75, {0.75, 0.75, 0.96}},
                      .isolated_call = FloorPart{1.5, {1.5, 1.5, 0.96}}};
  wrong.floor_call_us = 1.5;
  wrong.trace = TraceSummary{.calls = 20, .undecided_calls = 20, .last_by_rank = {0, 0, 0, 0}};
  if (status == RunStatus::kPassed) {
    wrong.trace->last_rank = 3;
    wrong.trace->last_calls = 15;
    wrong.trace->undecided_calls = 1;
    wrong.trace->last_by_rank = {0, 3, 1, 15};
    wrong.trace->last_by_us = 0.5;  // 5 % of p50 are 0.125
    wrong.trace->clock_step_us = 0.25;
  }
  StressRecord stress = SampleStress();
  if (status == RunStatus::kWrong) {
    stress.wrong_calls = 2;
    stress.check.mismatches = 5;
    stress.check.first = "rank 1, call 4: word 0";
    stress.wrong = {{4, 1, 0, 2, 3, 7, {1, 2, 3, 0xffffffffu}, "which no recent call sent"},
                    {5, 0, 1, 0, 0, 7, {8, 2, 3, 4}, ""}};
    wrong.check.mismatches = 1;
    wrong.check.first = "rank 1, call 2, word 3: expected 0x1, saw 0x2";
  }
  RunEnding ending = {status, "why", {}, ""};
  if (status != RunStatus::kPassed) ending.errors = {{2, "rank 2 is gone"}, {{}, "disk full"}};
  return AssembleReport({HeaderJson(facts, 1),
                         {PointJson(unchecked), PointJson(wrong)},
                         /*torn=*/false,
                         {StressJson(stress)}},
                        ending);
}

json AsVersion2(const std::string& text) {
  json report = json::parse(text);
  report["schema_version"] = 2;
  for (json& point : report["points"]) {
    json& latency = point["latency_us"];
    const auto samples = latency["samples"].get<std::vector<double>>();  // ascending
    for (const auto& [name, q] : {std::pair{"p90", 0.9}, {"p99", 0.99}, {"p999", 0.999}}) {
      if (latency[name].is_null()) latency[name] = Quantile(samples, q);
    }
    point.erase("straggler_unknown");
    if (point["trace"].is_object()) point["trace"].erase("last_by_us");
    point["warmup"]["clock_mhz"] = 1980;
    point["straggler"] = 2;
    point["straggler_share"] =
        point["per_rank"][2]["longest"].get<double>() / latency["count"].get<double>();
    if (json& floor = point["floor_us"]; floor.is_object()) {
      for (const char* field : {"call", "steady", "isolated_call", "eager_call", "intervals"}) {
        floor.erase(field);
      }
      point["floor_ratio"] = latency["p50"].get<double>() / (floor["empty_kernel"].get<double>() +
                                                             floor["publish_to_all"].get<double>());
    }
    for (json& rank : point["per_rank"]) {
      rank["last"] = rank["longest"];
      for (const char* field : {"longest", "clock_before_mhz", "clock_after_mhz"}) {
        rank.erase(field);
      }
    }
  }
  return report;
}

}  // namespace mailbench::test
