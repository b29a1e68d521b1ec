#include "kernels/start_gate/host_start_gate.h"

#include "kernels/machine/host/host_machine.h"
#include "kernels/start_gate/protocol.h"

namespace mailbench {

void AwaitReleaseOnHost(const Latch* own, std::uint32_t generation, GridRunner& runner) {
  runner.Run({1, 1}, 0, [&](HostThread& thread) {
    HostMachine m(thread);
    AwaitRelease(m, own, generation);
  });
}

void ReleaseOnHost(const StartGateView& gate, std::uint32_t generation, GridRunner& runner) {
  runner.Run({1, 1}, 0, [&](HostThread& thread) {
    HostMachine m(thread);
    Release(m, gate, generation);
  });
}

}  // namespace mailbench
