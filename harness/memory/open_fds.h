// For tests: how many descriptors this process has open.
#pragma once

#include <cstddef>
#include <filesystem>
#include <iterator>

namespace mailbench {

inline std::ptrdiff_t OpenFds() {
  const std::filesystem::directory_iterator open("/proc/self/fd");
  return std::distance(begin(open), end(open));
}

}  // namespace mailbench
