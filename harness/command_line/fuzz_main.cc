// The libFuzzer target: fuzz_command_line -max_total_time=300 harness/command_line/corpus
#include <cstddef>
#include <cstdint>

#include "harness/command_line/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  mailbench::FuzzOne(data, size);
  return 0;
}
