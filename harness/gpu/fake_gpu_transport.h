// For tests: transports `unicast` and `multicast` whose memory is that of the fake driver, made by
// the code that makes it on GPUs, and whose calls run on the host machine. A multicast store goes
// to the memory that every rank has bound to the object, as copies that land late.
#pragma once

#include <memory>
#include <string_view>

#include "harness/memory/transport.h"

namespace mailbench {

struct FakeGpus {
  // The rank whose GPU is in another NVLink domain than the rest; -1: none.
  int elsewhere = -1;
};

// As MakeTransport: every rank has a GPU of its own, in one NVLink domain. Allocations act on this
// process's fake driver. Transports of the host are refused.
std::unique_ptr<Transport> MakeFakeGpuTransport(std::string_view name, const RunConfig& config,
                                                const Ranks& ranks, const FakeGpus& gpus);

}  // namespace mailbench
