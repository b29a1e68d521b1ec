#include "harness/report/run_facts.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>

namespace mailbench {

std::vector<Skipped> ByReason(const std::vector<Skipped>& skipped) {
  std::vector<Skipped> merged;
  for (const Skipped& one : skipped) {
    const auto known = std::find_if(merged.begin(), merged.end(), [&](const Skipped& other) {
      return !one.shape && !other.shape && other.reason == one.reason;
    });
    if (known == merged.end()) {
      merged.push_back(one);
    } else {
      known->algorithm += ", " + one.algorithm;
    }
  }
  return merged;
}

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
