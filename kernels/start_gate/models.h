// The start gate as a model for the checker.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/machine/adversary/adversary_machine.h"
#include "kernels/machine/adversary/scenario.h"
#include "kernels/start_gate/layout.h"

namespace mailbench {

// The two kernels of a gate, by their threads. protocol.h says what they do.
struct GateThreads {
  void (*await)(AdversaryMachine& m, const Latch* own, std::uint32_t generation);
  void (*release)(AdversaryMachine& m, const StartGateView& gate, std::uint32_t generation);
  bool meets = true;  // the ranks meet before each release, as the protocol requires
};

// Each call of the scenario is a generation; its size means nothing, and scenario.threads are those
// of the releasing CTA. On every rank a kernel waits for each generation in turn; rank 0 releases
// it, on a stream of its own, when all ranks have met. Results: which generation was the newest
// that rank 0 had begun to release when a rank passed; it is to be the one that was waited for.
Model GateModel(std::string name, std::string summary, const GateThreads& threads);

// "start-gate".
std::vector<Model> StartGateModels();

}  // namespace mailbench
