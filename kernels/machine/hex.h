// Words as diagnoses write them.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>

namespace mailbench {

// "0x0000000f".
inline std::string Hex(std::uint32_t word) {
  char text[16];
  std::snprintf(text, sizeof text, "0x%08x", word);
  return text;
}

}  // namespace mailbench
