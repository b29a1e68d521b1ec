#include "harness/report/amounts.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace mailbench {
namespace {

// Below this tenths of a second are shown.
constexpr double kTenthsBelow = 9.95;
// What a text of hours can hold with ease: 63 years.
constexpr double kLongestSeconds = 2e9;
constexpr int kMinute = 60;
constexpr int kHour = 60 * kMinute;

}  // namespace

std::string FormatBytes(std::size_t bytes) {
  constexpr double kStep = 1024;
  if (bytes < 1024) return std::to_string(bytes) + " B";
  double amount = static_cast<double>(bytes) / kStep;
  const char* unit = "KiB";
  for (const char* larger : {"MiB", "GiB", "TiB"}) {
    if (amount < kStep) break;
    amount /= kStep;
    unit = larger;
  }
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), "%.1f %s", amount, unit);
  return text.data();
}

std::string FormatDuration(double seconds) {
  seconds = std::clamp(seconds, 0.0, kLongestSeconds);
  std::array<char, 48> text{};
  const int whole = static_cast<int>(std::lround(seconds));
  if (seconds < kTenthsBelow) {
    std::snprintf(text.data(), text.size(), "%.1f s", seconds);
  } else if (whole < kMinute) {
    std::snprintf(text.data(), text.size(), "%d s", whole);
  } else if (whole < kHour) {
    std::snprintf(text.data(), text.size(), "%d min %02d s", whole / kMinute, whole % kMinute);
  } else {
    std::snprintf(text.data(), text.size(), "%d h %02d min", whole / kHour,
                  whole % kHour / kMinute);
  }
  return text.data();
}

}  // namespace mailbench
