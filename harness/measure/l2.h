// What a timed call finds in the L2 cache of its GPU.
#pragma once

#include <cstdint>
#include <string>

#include "harness/command_line/run_config.h"

namespace mailbench {

// States as PointKey::l2 has them, beside those of L2State:
inline constexpr const char* kL2Exceeded = "exceeded";  // hot was asked for, and does not fit
inline constexpr const char* kL2NotControlled = "not controlled";  // on the host machine

// Outputs of one point are kept below this, at least one call's: calls of a graph beyond it use the
// buffers of earlier ones again.
inline constexpr std::int64_t kOutputBudgetBytes = std::int64_t{64} << 20;

// What one call touches, of one rank, and where.
struct L2Footprint {
  std::int64_t l2_bytes = 0;  // of the GPU; 0: its state is not controlled
  int ranks_per_gpu = 1;
  std::int64_t mailbox_bytes = 0;
  std::int64_t input_bytes = 0;
  std::int64_t output_bytes = 0;
};

// How the calls of a sample use the cache.
struct L2Use {
  std::string state = kL2NotControlled;
  int slots = 1;        // inputs and outputs, in pairs, that the calls take turns on
  bool evicts = false;  // everything is evicted before each sample
  std::string evicted;  // of what a call touches, for the report; "" for nothing
};

// Inputs and outputs as a check has them: a pair for each of `calls`, within kOutputBudgetBytes.
int SlotsForEachCall(std::int64_t output_bytes, int calls);

// hot       the slots, and the mailbox, of all ranks of a GPU fit into a quarter of its L2; where
//           even one slot does not, the state is `exceeded`, and there is one.
// cold      everything is evicted before each sample; in mode graph each call has a slot of its own
//           as far as the outputs stay below the larger of kOutputBudgetBytes and twice L2: slots
//           that are used again after as much have left L2 by themselves.
// Not controlled: as SlotsForEachCall.
// `calls`: of a sample.
L2Use UseL2(L2State wanted, const L2Footprint& footprint, Mode mode, int calls);

}  // namespace mailbench
