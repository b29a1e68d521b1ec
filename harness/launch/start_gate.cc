#include "harness/launch/start_gate.h"

namespace mailbench {

StartGate::StartGate(const SymmetricView& memory, const Ranks& ranks) : ranks_(ranks) {
  view_.rank = memory.rank;
  for (std::byte* share : memory.peers) {
    view_.latches[view_.ranks++] = reinterpret_cast<Latch*>(share);
  }
}

}  // namespace mailbench
