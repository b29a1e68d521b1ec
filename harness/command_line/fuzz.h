// The fuzzed property of the command line, shared by the libFuzzer target and by ctest.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mailbench {

enum class FuzzOutcome { kAccepted, kRefused };

// Takes the bytes for a config file, or, when they begin with '$', for one argument a line up to a
// line "%", and what follows that for a config file beneath the arguments. No file is opened.
// Returns when the input became a valid RunConfig or a UsageError of one printable line. Throws
// std::logic_error when a RunConfig or a message breaks its promises; whatever else the parser
// throws passes through.
FuzzOutcome FuzzOne(const std::uint8_t* data, std::size_t size);

}  // namespace mailbench
