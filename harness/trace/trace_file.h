// The traced calls of a run as a file for Perfetto (ui.perfetto.dev) and chrome://tracing: the JSON
// form of the Trace Event Format.
#pragma once

#include <string>

#include "harness/report/point_record.h"
#include "harness/trace/point_trace.h"

namespace mailbench {

// Whether a trace can be written at `path`: throws UsageError, which names it, when it cannot, or
// when there is a file already and not `force`. Changes nothing.
void RequireTraceable(const std::string& path, bool force);

class TraceFile {
 public:
  // `tool` and `collective`: who traced what.
  TraceFile(std::string tool, std::string collective);

  // Ranks are processes; the whole call is thread 0 of each, its CTAs are the threads from 1 on.
  // At most kMostEventsOfAPoint of a point, where trace.ctas of a call are not above ShownOf.
  // Points follow each other 10 us apart, since a run spends most of its time between them.
  void Add(const PointKey& key, const PointTrace& trace);

  std::string Text() const;
  // In one step: whoever looks sees the whole file or none. Throws SystemError.
  void Write(const std::string& path) const;

 private:
  void Emit(const std::string& event);
  void NameProcesses(const PointTrace& trace);
  void NameThread(int rank, int thread, const std::string& name);

  std::string head_;
  std::string events_;  // as JSON, one a line
  std::string points_;  // what there is to know of each, likewise
  double end_us_ = 0;   // of the last point
  int named_ranks_ = 0;
  int named_ctas_ = 0;
};

}  // namespace mailbench
