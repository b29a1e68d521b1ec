#include "harness/report/table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <utility>

#include "harness/gpu/gpu_facts_text.h"
#include "harness/measure/l2.h"
#include "harness/ranks/rank_list.h"

namespace mailbench {
namespace {

// Of p50. A median whose interval is wider says so in its row.
constexpr double kWideInterval = 0.05;
// Of a GPU's clock between the first sample and the last, beyond which a row says so.
constexpr double kClockChange = 0.02;

std::string Join(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    if (!text.empty()) text += ", ";
    text += word;
  }
  return text;
}

std::string Left(const std::string& text, std::size_t width) {
  return text + std::string(text.size() < width ? width - text.size() : 0, ' ');
}

std::string Right(const std::string& text, std::size_t width) {
  return std::string(text.size() < width ? width - text.size() : 0, ' ') + text;
}

std::string Fixed(double value, int digits) {
  std::array<char, 400> text = {};
  std::snprintf(text.data(), text.size(), "%.*f", digits, value);
  return text.data();
}

struct Columns {
  std::string bytes_per_rank, bytes_total, algorithm, mode, l2, p50, p99, max, algbw, busbw, wrong;
  std::string note = {};
};

std::string Line(const std::string& start, const Columns& columns) {
  return start + Right(columns.bytes_per_rank, 12 - start.size()) + ' ' +
         Right(columns.bytes_total, 13) + "  " + Left(columns.algorithm, 14) + ' ' +
         Left(columns.mode, 8) + ' ' + Left(columns.l2, 8) + ' ' + Right(columns.p50, 10) + ' ' +
         Right(columns.p99, 10) + ' ' + Right(columns.max, 10) + ' ' + Right(columns.algbw, 9) +
         ' ' + Right(columns.busbw, 9) + ' ' + Right(columns.wrong, 7) + columns.note + '\n';
}

// "-3% +9%", "-3% +9% at 75%" where samples are too few for kMedianConfidence; "" where the median
// is known well enough.
std::string IntervalText(double p50, const MedianInterval& interval) {
  const bool sure = interval.confidence >= kMedianConfidence;
  if (sure && interval.high - interval.low <= kWideInterval * p50) return "";
  const auto percent = [](double share) { return Fixed(100 * share, 0) + '%'; };
  std::string text =
      '-' + percent((p50 - interval.low) / p50) + " +" + percent((interval.high - p50) / p50);
  if (!sure) text += " at " + percent(interval.confidence);
  return text;
}

std::string IntervalNote(const PointRecord& point) {
  const std::string text = IntervalText(point.latency_us.p50, point.p50_interval_us);
  return text.empty() ? "" : "  p50 " + text;
}

// Of a clock that is too coarse for the point.
std::string ClockStepNote(const PointRecord& point) {
  if (!point.clock_step_us) return "";
  if (*point.clock_step_us <= kWideInterval * point.latency_us.p50) return "";
  return "  timed in steps of " + Fixed(*point.clock_step_us, 2) + " us";
}

std::string FloorNote(const PointRecord& point) {
  const bool below = point.floor_call_us && point.latency_us.p50 < *point.floor_call_us;
  return below ? "  below the floor" : "";
}

// "  clock -11% (rank 2)": the largest change of any rank's while the samples were taken; "" where
// none is worth a word.
std::string ClockNote(const PointRecord& point) {
  double change = 0;
  std::size_t changed_rank = 0;
  for (std::size_t rank = 0; rank < point.per_rank.size(); ++rank) {
    const RankLatency& own = point.per_rank[rank];
    if (!own.clock_before_mhz || !own.clock_after_mhz) continue;
    const double its =
        static_cast<double>(*own.clock_after_mhz - *own.clock_before_mhz) / *own.clock_before_mhz;
    if (std::abs(its) <= std::abs(change)) continue;
    change = its;
    changed_rank = rank;
  }
  if (std::abs(change) <= kClockChange) return "";
  return std::string("  clock ") + (change < 0 ? "-" : "+") + Fixed(100 * std::abs(change), 0) +
         "% (rank " + std::to_string(changed_rank) + ")";
}

struct StressColumns {
  std::string algorithm, calls, wrong_calls, per_million, wrong_words, leftover, seconds;
};

std::string StressLine(const std::string& start, const StressColumns& columns) {
  return start + Left(columns.algorithm, 26 - start.size()) + Right(columns.calls, 11) + ' ' +
         Right(columns.wrong_calls, 11) + ' ' + Right(columns.per_million, 11) + ' ' +
         Right(columns.wrong_words, 11) + ' ' + Right(columns.leftover, 11) + ' ' +
         Right(columns.seconds, 9) + '\n';
}

std::string GpuLines(const Environment& environment) {
  std::string text;
  for (const auto& [gpu, ranks] : GroupByGpu(environment.gpus)) {
    text += "# GPU " + gpu.name + " (" + std::to_string(gpu.multiprocessors) + " SMs";
    if (gpu.sm_clock_max_mhz) text += ", up to " + std::to_string(*gpu.sm_clock_max_mhz) + " MHz";
    text += "): " + RankList(ranks) + (gpu.mps ? ", under MPS\n" : "\n");
    if (ranks.size() > 1 && !gpu.mps) {
      text +=
          "#   without MPS these ranks take turns on it (time-sliced): their times mean little\n";
    }
  }
  return text;
}

// "# NVLink not healthy: degraded bandwidth (ranks 0, 1); route unhealthy (rank 3)".
std::string NvlinkHealthLine(const Environment& environment) {
  std::vector<std::pair<std::string, std::vector<int>>> ranks_by_trouble;  // in order of appearance
  for (std::size_t rank = 0; rank < environment.gpus.size(); ++rank) {
    for (const std::string& trouble : FabricTroubles(environment.gpus[rank].place.health_mask)) {
      auto entry = std::find_if(ranks_by_trouble.begin(), ranks_by_trouble.end(),
                                [&](const auto& known) { return known.first == trouble; });
      if (entry == ranks_by_trouble.end()) entry = ranks_by_trouble.insert(entry, {trouble, {}});
      entry->second.push_back(static_cast<int>(rank));
    }
  }
  std::string text;
  for (const auto& [trouble, ranks] : ranks_by_trouble) {
    text +=
        (text.empty() ? "# NVLink not healthy: " : "; ") + trouble + " (" + RankList(ranks) + ")";
  }
  return text.empty() ? "" : text + "\n";
}

std::string NcclLine(const Environment& environment) {
  if (!environment.nccl_version.empty()) return "# NCCL " + environment.nccl_version + "\n";
  if (!environment.nccl_refusal.empty()) return "# No NCCL: " + environment.nccl_refusal + "\n";
  return "";
}

// How many points were left out, and each reason once.
std::string LeftOutLines(const TableFoot& foot) {
  std::size_t total = 0;
  std::vector<std::pair<std::string, std::size_t>> by_reason;  // in the order of the first of each
  for (const Skipped& skipped : foot.skipped) {
    if (!skipped.shape) continue;
    const auto known = std::find_if(by_reason.begin(), by_reason.end(), [&](const auto& entry) {
      return entry.first == skipped.reason;
    });
    (known == by_reason.end() ? by_reason.insert(known, {skipped.reason, 0}) : known)->second +=
        foot.points_per_shape;
    total += foot.points_per_shape;
  }
  if (total == 0) return "";
  std::string text = "# Points left out: " + std::to_string(total) + "\n";
  for (const auto& [reason, points] : by_reason) {
    text += "#   " + std::to_string(points) + ": " + reason + "\n";
  }
  return text;
}

// "0.40", "0.40 (-3% +9%)".
std::string PartText(const FloorPart& part) {
  const std::string interval = IntervalText(part.us, part.interval_us);
  return Fixed(part.us, 2) + (interval.empty() ? "" : " (" + interval + ')');
}

std::string FloorLines(const Floor& floor) {
  std::string text = "# Floor: " + Fixed(*floor.call_us(Mode::kGraph), 2) +
                     " us = an empty kernel " + PartText(floor.empty_kernel) +
                     " + from everybody to everybody " + PartText(floor.publish_to_all);
  if (floor.hop) text += ", one hop " + PartText(*floor.hop);
  if (!floor.steady) text += ", not steady";
  text += '\n';
  std::string calls;
  if (floor.isolated_call) calls += " isolated " + PartText(*floor.isolated_call) + " us";
  if (floor.eager_call) {
    calls += (calls.empty() ? " eager " : ", eager ") + PartText(*floor.eager_call) + " us";
  }
  if (!calls.empty()) text += "#   of a call by itself:" + calls + '\n';
  return text;
}

}  // namespace

std::string FormatRunHead(const TableHead& head) {
  const Environment& environment = head.environment;
  std::string text = "# " + head.collective + " (mailbench " + head.version + ")\n";
  text += "# Ranks: " + std::to_string(environment.ranks) +
          (head.launched ? "\n" : ", started without mpirun\n");
  for (const HostRanks& host : environment.hosts) {
    text += "# Host " + host.name + ": " + RankList(host.ranks) + "\n";
  }
  text += "# Transport: " + environment.transport + "\n";
  for (const RefusedTransport& refused : environment.refused_transports) {
    text += "#   not " + refused.transport + ": " + refused.reason + "\n";
  }
  text += GpuLines(environment) + NvlinkHealthLine(environment) + NcclLine(environment);
  text += "# Algorithms: " + Join(head.algorithms) + "\n";
  for (const Skipped& skipped : ByReason(head.skipped)) {
    if (skipped.shape) continue;
    text += "#   skipped " + skipped.algorithm + ": " + skipped.reason + "\n";
  }
  return text;
}

std::string FormatColumns(const std::optional<Floor>& floor) {
  std::string text = floor ? FloorLines(*floor) : "";
  text +=
      "# Times: microseconds a call, of the slowest rank\n"
      "# p50 -3% +9%: its 95 % interval, where that is wider than 5 % of it\n#\n";
  text += Line("#", {"bytes/rank", "bytes total", "algorithm", "mode", "l2", "p50", "p99", "max",
                     "algbw", "busbw", "#wrong"});
  text +=
      Line("#", {"(B)", "(B)", "", "", "", "(us)", "(us)", "(us)", "(GB/s)", "(GB/s)", "(words)"});
  return text;
}

std::string FormatTableRow(const PointRecord& point) {
  const Summary& latency = point.latency_us;
  const std::string wrong =
      point.checked ? std::to_string(point.check.mismatches + point.check.leftover) : "N/A";
  const std::string l2 = point.key.l2 == kL2NotControlled ? "-" : point.key.l2;
  const std::string steady = point.warmup.steady == false ? "  not steady" : "";
  return Line(
      "",
      {std::to_string(point.key.shape.bytes_per_rank), std::to_string(point.key.shape.bytes_total),
       point.key.algorithm, point.key.mode, l2, Fixed(latency.p50, 2),
       latency.p99 ? Fixed(*latency.p99, 2) : "-", Fixed(latency.max, 2),
       Fixed(point.algbw_gb_per_s, 3), Fixed(point.busbw_gb_per_s, 3), wrong,
       IntervalNote(point) + steady + ClockNote(point) + ClockStepNote(point) + FloorNote(point)});
}

std::string FormatStressHead(const TableHead& head, int calls) {
  return FormatRunHead(head) + "# Stress: at least " + std::to_string(calls) +
         " calls an algorithm, sizes alternate, every call is checked on every rank\n#\n" +
         StressLine("#", {"algorithm", "calls", "wrong calls", "per million", "wrong words",
                          "left over", "seconds"});
}

std::string FormatStressRow(const StressRecord& record) {
  return StressLine("", {record.algorithm, std::to_string(record.calls),
                         std::to_string(record.wrong_calls), Fixed(WrongPerMillion(record), 1),
                         std::to_string(record.check.mismatches),
                         std::to_string(record.check.leftover), Fixed(record.seconds, 1)}) +
         "#   " + Fixed(record.verified_us, 2) + " us a call, verified and with late ranks; " +
         Fixed(record.bare_us, 2) + " us without\n";
}

std::string FormatStressFoot(std::uint64_t wrong_words, const std::string& report) {
  std::string text = "#\n# Wrong words: " + std::to_string(wrong_words) +
                     (wrong_words == 0 ? " OK\n" : " FAILED\n");
  if (!report.empty()) text += "# Report: " + report + '\n';
  return text;
}

std::string FormatTableFoot(const TableFoot& foot) {
  std::string text = "#\n# Points: " + std::to_string(foot.points);
  if (foot.resumed_points > 0) {
    text += ", and " + std::to_string(foot.resumed_points) + " of an earlier run";
  }
  text += "\n" + LeftOutLines(foot) + "# Wrong words: ";
  text += foot.checked
              ? std::to_string(foot.wrong_words) + (foot.wrong_words == 0 ? " OK" : " FAILED")
              : "N/A (not checked)";
  if (foot.earlier_wrong) text += ", and the earlier run FAILED";
  text += '\n';
  if (!foot.report.empty()) text += "# Report: " + foot.report + '\n';
  return text;
}

}  // namespace mailbench
