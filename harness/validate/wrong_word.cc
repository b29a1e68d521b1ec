#include "harness/validate/wrong_word.h"

#include "kernels/machine/hex.h"
#include "kernels/machine/pack.h"

namespace mailbench {

std::string Describe(const WrongWord& wrong) {
  const std::string text =
      "rank " + std::to_string(wrong.rank) + ", call " + std::to_string(wrong.call) + ": word " +
      std::to_string(wrong.pack * kPackWords + wrong.word) + " of rank " +
      std::to_string(wrong.source) + "'s input: expected " + Hex(wrong.expected) + ", seen " +
      Hex(wrong.seen[static_cast<std::size_t>(wrong.word)]);
  return wrong.origin.empty() ? text : text + ", " + wrong.origin;
}

}  // namespace mailbench
