// A word of an output that is not what the payloads say, and its story.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace mailbench {

struct WrongWord {
  std::uint64_t call = 0;
  int rank = 0;           // whose output it is in
  int source = 0;         // whose input it should come from
  std::int64_t pack = 0;  // of that input: 16 bytes
  int word = 0;           // of that pack
  std::uint32_t expected = 0;
  std::array<std::uint32_t, 4> seen = {};  // the pack
  std::string origin;  // where the seen word comes from, in words; "" when nobody looked
};

// "rank 2, call 0: word 3 of rank 0's input: expected 0xb67c9431, seen 0xb67c94b1, which is ...".
std::string Describe(const WrongWord& wrong);

}  // namespace mailbench
