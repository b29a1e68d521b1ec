#include "kernels/fabric_floor/host_floor.h"

#include "kernels/fabric_floor/protocol.h"
#include "kernels/machine/host/host_machine.h"

namespace mailbench {
namespace {

void Run(FloorKind kind, const FloorArgs& args, HostThread& thread) {
  HostMachine m(thread);
  switch (kind) {
    case FloorKind::kEmptyKernel:
      return FloorEmptyKernel(m);
    case FloorKind::kHop:
      return FloorHop(m, args);
    case FloorKind::kPublishToAll:
      return args.multicast == nullptr ? FloorPublishToAll<HostMachine, false>(m, args)
                                       : FloorPublishToAll<HostMachine, true>(m, args);
  }
}

}  // namespace

void EnqueueFloor(FloorKind kind, const FloorArgs& args, HostStream& stream) {
  stream.Launch([kind, args](GridRunner& runner) {
    runner.Run({1, FloorThreads(args.layout.ranks)}, 0,
               [&](HostThread& thread) { Run(kind, args, thread); });
  });
}

}  // namespace mailbench
