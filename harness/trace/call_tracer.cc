#include "harness/trace/call_tracer.h"

#include "harness/collective/collective.h"

namespace mailbench {
namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;

}  // namespace

TracerOrRefusal Instance::MakeTracer(int /*calls*/) {
  return {nullptr, "the algorithm has no kernels that mark times"};
}

std::string TimesRefusal(int calls, std::int64_t bytes) {
  if (bytes <= TraceView::kMostBytes) return "";
  return "the times of " + std::to_string(calls) + " calls would take " +
         std::to_string((bytes + kMiB - 1) / kMiB) + " MiB of a rank, more than " +
         std::to_string(TraceView::kMostBytes / kMiB);
}

}  // namespace mailbench
