// The unit of a mailbox: 16 bytes, four 32-bit words, what one thread moves with one instruction.
#pragma once

#include <cstdint>

namespace mailbench {

struct alignas(16) Pack {
  std::uint32_t word[4];
};
static_assert(sizeof(Pack) == 16);

inline constexpr int kPackBytes = 16;
inline constexpr int kPackWords = 4;

// Memory behind a multicast mapping. Never defined: only multimem instructions may touch such an
// address (PTX ISA 8.2.3 "Multimem Addresses"), and without a definition nothing else can.
struct MulticastPack;

// Where a thread is polling, for diagnoses. Costs nothing on a GPU's fast path.
struct PollSite {
  std::uint32_t generation;
  int source;         // the rank whose word is missing
  std::int64_t pack;  // of that rank's input
};

}  // namespace mailbench
