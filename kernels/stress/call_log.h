// What those who check calls where they run keep in the device's memory: the number of the next
// call, and what was wrong.
#pragma once

#include <cstdint>

#include "kernels/machine/pack.h"

namespace mailbench {

// Calls that can be told from each other between two looks at a log.
inline constexpr std::uint32_t kMostWrongCalls = 1024;

// What an output holds before a call.
inline constexpr std::uint32_t kPoison = 0xdeadbeefu;

// The first wrong word that a rank saw of a call.
struct WrongCall {
  std::uint64_t call = 0;  // its number
  std::int64_t pack = 0;   // of the source's input
  std::int32_t source = 0;
  std::uint32_t word = 0;  // of the pack
  std::uint32_t expected = 0;
  std::uint32_t seen[kPackWords] = {};  // the pack
};

struct CallLog {
  std::uint64_t next_call = 0;   // number of the first of the calls that are filled or checked next
  std::uint64_t compared = 0;    // words, since the log was cleared
  std::uint64_t mismatches = 0;  // of these
  std::uint32_t wrong_calls = 0;    // calls with any; of the first kMostWrongCalls, by no order:
  std::uint32_t finished_ctas = 0;  // of the check that runs
  WrongCall wrong[kMostWrongCalls];
};

// To see that a check can fail: bits that are flipped in the output of one call before it is
// compared. No call has the number that stands for none.
struct PlantedFault {
  static constexpr std::uint64_t kNoCall = ~std::uint64_t{0};

  std::uint64_t call = kNoCall;
  std::int64_t pack = 0;  // of the output
  std::uint32_t word = 0;
  std::uint32_t flipped = 0;
};

}  // namespace mailbench
