// What a comparison found. The same struct serves one call, one point, one rank and all ranks.
#pragma once

#include <cstdint>
#include <string>

namespace mailbench {

struct CheckResult {
  std::uint64_t calls = 0;       // calls whose whole output was compared
  std::uint64_t compared = 0;    // words compared with the reference
  std::uint64_t mismatches = 0;  // words that differed
  std::uint64_t audited = 0;     // mailbox words looked at between calls
  std::uint64_t leftover = 0;    // mailbox words that a call left behind
  // The first mismatch or leftover in words, "" when there is none: which rank, call and word, what
  // was expected, what was seen and where the seen value comes from.
  std::string first;

  bool passed() const { return mismatches == 0 && leftover == 0; }
  // Adds the counts of `other`; keeps the earlier `first`.
  void Add(const CheckResult& other);
};

}  // namespace mailbench
