#include "harness/report/run_facts.h"

#include <array>
#include <cstdio>
#include <ctime>

namespace mailbench {

std::string TimestampUtc(std::chrono::system_clock::time_point time) {
  const auto since = std::chrono::floor<std::chrono::milliseconds>(time.time_since_epoch());
  const auto seconds = std::chrono::floor<std::chrono::seconds>(since);
  const std::time_t whole = seconds.count();
  std::tm parts = {};
  gmtime_r(&whole, &parts);
  std::array<char, 32> day_and_time = {};
  const std::size_t length =
      std::strftime(day_and_time.data(), day_and_time.size(), "%Y-%m-%dT%H:%M:%S", &parts);
  std::array<char, 8> fraction = {};
  std::snprintf(fraction.data(), fraction.size(), ".%03dZ",
                static_cast<int>((since - seconds).count()));
  return std::string(day_and_time.data(), length) + fraction.data();
}

}  // namespace mailbench
