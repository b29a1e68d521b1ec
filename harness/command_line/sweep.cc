#include "harness/command_line/sweep.h"

#include <string>

#include "harness/command_line/values.h"
#include "harness/error.h"

namespace mailbench {
namespace {

constexpr std::size_t kMostSizes = 4096;
constexpr std::int64_t kStandardMin = 16;
constexpr std::int64_t kStandardMax = std::int64_t{512} * 1024;
constexpr std::uint64_t kStandardFactor = 2;
constexpr std::uint64_t kLargestFactor = 1'000'000;

const Setting* Find(const Settings& settings, const char* name) {
  const auto found = settings.find(name);
  return found == settings.end() ? nullptr : &found->second;
}

void RefuseBoth(const Settings& settings, const char* a, const char* b) {
  const Setting* first = Find(settings, a);
  const Setting* second = Find(settings, b);
  if (first != nullptr && second != nullptr) {
    throw UsageError(first->origin + " and " + second->origin + " exclude each other");
  }
}

[[noreturn]] void RefuseCount(const std::string& origin) {
  throw UsageError(origin + ": the sweep has more than " + std::to_string(kMostSizes) + " sizes");
}

std::vector<std::int64_t> Listed(const Setting& list) {
  if (list.items.size() > kMostSizes) RefuseCount(list.origin);
  std::vector<std::int64_t> sizes;
  for (const std::string& item : list.items) {
    const std::int64_t size = ParseSize(list.origin, item);
    if (!sizes.empty() && size == sizes.back()) Refuse(list.origin, item, "is listed twice");
    if (!sizes.empty() && size < sizes.back()) {
      Refuse(list.origin, item, "follows a larger size: list the sizes in ascending order");
    }
    sizes.push_back(size);
  }
  return sizes;
}

}  // namespace

std::vector<std::int64_t> SweepSizes(const Settings& settings) {
  for (const char* name : kSizeGroup) {
    if (std::string(name) != "bytes") RefuseBoth(settings, "bytes", name);
  }
  RefuseBoth(settings, "step-factor", "step-bytes");
  if (const Setting* list = Find(settings, "bytes")) return Listed(*list);

  const auto size_of = [&](const char* name, std::int64_t standard) {
    const Setting* setting = Find(settings, name);
    return setting == nullptr ? standard : ParseSize(setting->origin, setting->items.front());
  };
  const std::int64_t min = size_of("min-bytes", kStandardMin);
  const std::int64_t max = size_of("max-bytes", kStandardMax);
  if (min > max) {
    const Setting* named = Find(settings, "min-bytes");
    if (named == nullptr) named = Find(settings, "max-bytes");
    throw UsageError(named->origin + ": the smallest size, " + std::to_string(min) +
                     ", is above the largest, " + std::to_string(max) +
                     (Find(settings, "max-bytes") == nullptr ? " (the default)" : ""));
  }
  const std::int64_t add = size_of("step-bytes", 0);
  std::uint64_t factor = kStandardFactor;
  const Setting* step = Find(settings, "step-bytes");
  if (const Setting* given = Find(settings, "step-factor")) {
    factor = ParseCount(given->origin, given->items.front(), 2, kLargestFactor);
    step = given;
  }
  // Sizes are at most 2^36 and factors below 2^20: no step overflows.
  std::vector<std::int64_t> sizes;
  for (std::int64_t size = min; size <= max;
       size = add > 0 ? size + add : size * static_cast<std::int64_t>(factor)) {
    if (sizes.size() == kMostSizes) RefuseCount(step->origin);
    sizes.push_back(size);
  }
  return sizes;
}

}  // namespace mailbench
