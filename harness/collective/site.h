// Where a run takes place, as far as it decides what can run there. The same on every rank.
#pragma once

#include <cstdint>
#include <string>

namespace mailbench {

struct Site {
  std::string transport;  // its name
  int ranks = 1;
  bool on_gpu = false;     // calls run on GPUs; otherwise on the host machine
  bool multicast = false;  // symmetric memory has an address that stores to all ranks

  // On GPUs.
  int ranks_per_gpu = 1;        // the most ranks that share one
  int multiprocessors = 0;      // the fewest that a GPU has
  std::int64_t l2_bytes = 0;    // the smallest L2 cache of a GPU; 0: caches are not controlled
  std::string nccl_refusal;     // why NCCL cannot run on these ranks; "" when it can
  std::string windows_refusal;  // why NCCL's symmetric windows cannot be used; "" when they can
};

}  // namespace mailbench
