// What takes the place of the GPU's code where no CUDA toolkit was found.
#include "harness/error.h"
#include "harness/gpu/unicast_transport.h"

namespace mailbench {

std::unique_ptr<Transport> MakeUnicastTransport(const RunConfig& /*config*/,
                                                const Ranks& /*ranks*/) {
  throw MachineError("this build has no GPU code: no CUDA toolkit of 12.9 or later was found");
}

}  // namespace mailbench
