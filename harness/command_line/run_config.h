// What one run was asked to do: the result of flags and config, the same on every rank.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace mailbench {

// How calls are put on the device and timed.
enum class Mode {
  kGraph,     // calls-per-graph calls back to back in one graph; a sample is total / calls
  kIsolated,  // one call, which a start gate releases on all ranks together; a sample is one call
  kEager,     // one call at a time, each launched by the host; a sample is one call
};
const char* ToString(Mode mode);

// What of a call is in the L2 cache of a GPU when it starts; see harness/measure/l2.h.
enum class L2State {
  kHot,   // all that it touches
  kCold,  // nothing
};
const char* ToString(L2State state);

struct RunConfig {
  // Sizes, bytes a rank, ascending as given; each a positive multiple of 16. Empty
  // where the collective has no sizes, never elsewhere.
  std::vector<std::int64_t> bytes;
  std::int64_t capacity =
      0;  // bytes a rank that a mailbox holds; at least the largest size, if any

  std::vector<std::string> algorithms;  // empty: the subject and every comparison that can run
  std::string transport = "auto";
  int ranks_per_gpu = 1;  // ranks that may share one GPU
  std::vector<Mode> modes = {Mode::kGraph, Mode::kEager};
  std::vector<L2State> l2 = {L2State::kHot};
  int iters = 20;  // samples a point but in mode graph, and there unless `replays` is given
  int warmup = 5;  // samples thrown away first, at least; 0: no warm-up
  int calls_per_graph = 10;  // calls in one graph
  int replays = 0;           // samples a point in mode graph; resolved to `iters` when not given
  std::uint64_t seed = 1;
  double timeout_seconds = 60;  // without progress for so long, the run ends with kHung
  bool check = true;
  int stress = 0;  // calls an algorithm whose sizes alternate, instead of the points; 0: none

  std::string json;   // the report's path; empty: no report
  std::string trace;  // the trace's path; empty: no trace
  bool force = false;
  bool resume = false;
  bool list = false;
  bool dry_run = false;

  // The collective's own flags, by long name, as text; every declared flag is present.
  std::map<std::string, std::string> own;
};

}  // namespace mailbench
