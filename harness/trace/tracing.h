// Traced calls behind the samples of a point: --trace.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "harness/measure/measure_point.h"
#include "harness/report/point_record.h"
#include "harness/trace/trace_file.h"

namespace mailbench {

class Tracing {
 public:
  // Without config.trace nothing is traced or written.
  Tracing(const MeasureContext& context, std::string_view collective);

  // Collective. Makes a few traced calls of the point, where the algorithm can and the point is
  // neither isolated nor cold, which traced calls are not: record.trace is
  // what they come to, or record.untraced says why there are none. In mode graph back to back in
  // one graph, else one by one. Their results are checked like those of the other calls, and
  // counted in record.check.
  void Trace(Mode mode, Instance& instance, CallCounter& calls, PointRecord& record);

  // Writes the file, on rank 0; throws SystemError. REQUIRES: the points are done.
  void Write() const;

 private:
  const MeasureContext& context_;
  std::optional<TraceFile> file_;  // on rank 0
};

}  // namespace mailbench
