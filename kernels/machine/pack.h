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

// What a thread is polling for. Costs nothing on a GPU, where nobody asks.
struct PollSite {
  const std::uint32_t* word = nullptr;  // polling again is of no use before this word
  std::uint32_t seen = 0;               // holds something else than this
  // For diagnoses.
  std::uint32_t generation = 0;
  int source = 0;         // the rank that has yet to store the word
  std::int64_t pack = 0;  // of that rank's input
};

}  // namespace mailbench
