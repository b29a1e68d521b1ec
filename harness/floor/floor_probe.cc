#include "harness/floor/floor_probe.h"

#include <span>
#include <string>
#include <vector>

#include "harness/floor/gpu_floor_call.h"
#include "kernels/fabric_floor/host_floor.h"

namespace mailbench {

FloorProbe::FloorProbe(const SymmetricView& memory, Executor& executor)
    : executor_(executor), state_(executor.Allocate(sizeof(FloorState))) {
  executor_.FillWords(state_->data(), 0, sizeof(FloorState) / sizeof(std::uint32_t));
  args_.layout.ranks = static_cast<int>(memory.peers.size());
  args_.rank = memory.rank;
  args_.state = reinterpret_cast<FloorState*>(state_->data());
  args_.local = reinterpret_cast<Pack*>(memory.local());
  for (std::size_t peer = 0; peer < memory.peers.size(); ++peer) {
    args_.peers[peer] = reinterpret_cast<Pack*>(memory.peers[peer]);
  }
  args_.multicast = memory.multicast;
}

FloorProbe::~FloorProbe() = default;

void FloorProbe::Enqueue(FloorKind kind, int rounds) {
  args_.rounds = static_cast<std::uint32_t>(rounds);
  if (executor_.gpu() != nullptr) {
    EnqueueFloorOnGpu(kind, args_, *executor_.gpu());
  } else {
    EnqueueFloor(kind, args_, *executor_.host_stream());
  }
}

CheckResult FloorProbe::Check(FloorKind kind) {
  CheckResult result;
  result.calls = 1;
  if (kind == FloorKind::kEmptyKernel) return result;
  FloorState state{};
  executor_.CopyOut(std::as_writable_bytes(std::span(&state, 1)), state_->data());
  std::vector<Pack> share(args_.layout.bytes() / sizeof(Pack));
  executor_.CopyOut(std::as_writable_bytes(std::span(share)),
                    reinterpret_cast<const std::byte*>(args_.local));
  const std::uint32_t expected = kind == FloorKind::kHop ? state.hops : state.publishes;
  for (int source = 0; source < args_.layout.ranks; ++source) {
    if (kind == FloorKind::kHop && source != FloorPartner(args_.rank, args_.layout.ranks)) continue;
    const Pack& counter = share[static_cast<std::size_t>(args_.layout.Counter(kind, source))];
    for (const std::uint32_t word : counter.word) {
      ++result.compared;
      if (word == expected) continue;
      if (result.mismatches++ > 0) continue;
      result.first = "rank " + std::to_string(args_.rank) + ": the counter of rank " +
                     std::to_string(source) + " is " + std::to_string(word) + " after " +
                     std::to_string(expected) + " rounds";
    }
  }
  return result;
}

}  // namespace mailbench
