// The JSON of a report, piece by piece, as text. Numbers that are not finite never reach it.
#pragma once

#include <string>
#include <vector>

#include "harness/report/point_record.h"
#include "harness/report/run_facts.h"
#include "harness/report/stress_record.h"

namespace mailbench {

// The most raw samples of one point that a report holds: the first ones. The statistics are over
// all of them.
inline constexpr int kSamplesPerPoint = 1000;

// Each on one line, without its end. Text that is not UTF-8 is repaired.
// Throws SystemError, which names the point and the field, for a latency that is not finite. A rate
// that is not finite becomes null.
std::string PointJson(const PointRecord& point);
std::string StressJson(const StressRecord& record);
// `resumed_points` of the points were measured by an earlier run.
// Throws std::invalid_argument when `facts.identity.config` is not the text of a JSON object.
std::string HeaderJson(const RunFacts& facts, int resumed_points);

// The whole report, one point a line. `header` as by HeaderJson, `points` as by PointJson, `stress`
// as by StressJson.
std::string ReportJson(const std::string& header, const std::vector<std::string>& points,
                       const std::vector<std::string>& stress, const RunEnding& ending);

bool IsJson(const std::string& text);
// Of a line of a journal: whether it is by StressJson, not by PointJson.
bool IsStressJson(const std::string& text);
// Whether both are by StressJson and about the same algorithm.
bool SameStress(const std::string& a, const std::string& b);

// A header and points that were read from a report. Throws UsageError naming `source` when `text`
// is not a report of this schema version.
struct ReportPieces {
  std::string header;
  std::vector<std::string> points;
};
ReportPieces SplitReport(const std::string& text, const std::string& source);

// Of a header, by HeaderJson or read from a report: whether the run was a stress, which has no
// points to go on with. False where it is no header.
bool IsOfStress(const std::string& header);

// Of a header that was read from a report: whether the run came to its end, right or wrong.
bool HasEnded(const std::string& header);

// "" when a report with this header may be resumed by a run that is `identity`; otherwise the first
// difference. Throws UsageError naming `source` when `header` is not a header of this version.
std::string DifferenceForResume(const std::string& header, const RunIdentity& identity,
                                const std::string& source);

struct PointSummary {
  std::string key;     // ToString(PointKey)
  bool wrong = false;  // it was checked and did not pass
};
// Throws UsageError naming `source` when `point` lacks what a point has.
PointSummary SummarizePoint(const std::string& point, const std::string& source);

}  // namespace mailbench
