// The toy as a model for the checker.
#pragma once

#include "kernels/lamport/gather_world.h"
#include "kernels/toy/protocol.h"

namespace mailbench {

inline void ToyThread(AdversaryThread& thread, const AllGatherArgs& args) {
  AdversaryMachine m(thread);
  ToyAllGather(m, args);
}

inline std::vector<Model> ToyModels() {
  return {GatherModel("toy", "an all-gather by one thread", &ToyThread)};
}

}  // namespace mailbench
