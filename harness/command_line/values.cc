#include "harness/command_line/values.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <system_error>

#include "harness/command_line/quote.h"
#include "harness/error.h"

namespace mailbench {
namespace {

bool IsDigit(char c) { return '0' <= c && c <= '9'; }

// 0 when there is no such suffix.
std::int64_t Multiplier(std::string_view suffix) {
  if (suffix.empty()) return 1;
  if (suffix == "K" || suffix == "k") return std::int64_t{1} << 10;
  if (suffix == "M" || suffix == "m") return std::int64_t{1} << 20;
  if (suffix == "G" || suffix == "g") return std::int64_t{1} << 30;
  return 0;
}

}  // namespace

void Refuse(const std::string& origin, std::string_view value, const std::string& problem) {
  throw UsageError(origin + ": " + Quote(value) + " " + problem);
}

std::int64_t ParseSize(const std::string& origin, std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const auto digits = static_cast<std::size_t>(end - text.data());
  const std::int64_t multiplier = Multiplier(text.substr(digits));
  if (error == std::errc::invalid_argument || multiplier == 0) {
    Refuse(origin, text, "is not a size: whole bytes, or a whole number with K, M or G");
  }
  if (error == std::errc::result_out_of_range ||
      number > static_cast<std::uint64_t>(kLargestSize / multiplier)) {
    Refuse(origin, text, "is above 64G");
  }
  const std::int64_t size = static_cast<std::int64_t>(number) * multiplier;
  if (size == 0 || size % kSizeUnit != 0) Refuse(origin, text, "is not a positive multiple of 16");
  return size;
}

std::uint64_t ParseCount(const std::string& origin, std::string_view text, std::uint64_t least,
                         std::uint64_t most) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc::invalid_argument || end != text.data() + text.size()) {
    Refuse(origin, text, "is not a whole number in plain digits, such as 2000000");
  }
  if (error != std::errc() || number < least || number > most) {
    Refuse(origin, text,
           "is not between " + std::to_string(least) + " and " + std::to_string(most));
  }
  return number;
}

double ParseDecimal(const std::string& origin, std::string_view text, double least, double most) {
  const bool plain =
      !text.empty() && IsDigit(text.front()) && IsDigit(text.back()) &&
      std::count(text.begin(), text.end(), '.') <= 1 &&
      std::all_of(text.begin(), text.end(), [](char c) { return IsDigit(c) || c == '.'; });
  if (!plain) Refuse(origin, text, "is not a decimal number");
  double number = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (error != std::errc() || number < least || number > most) {
    const auto shown = [](double bound) {
      std::string digits = std::to_string(bound);
      digits.erase(digits.find_last_not_of('0') + 1);
      if (digits.back() == '.') digits.pop_back();
      return digits;
    };
    Refuse(origin, text, "is not between " + shown(least) + " and " + shown(most));
  }
  return number;
}

void RequireOneOf(const std::string& origin, std::string_view text,
                  const std::vector<std::string_view>& accepted) {
  if (std::find(accepted.begin(), accepted.end(), text) != accepted.end()) return;
  std::string list;
  for (const std::string_view word : accepted) {
    list += (list.empty() ? "" : ", ") + std::string(word);
  }
  Refuse(origin, text, "is none of: " + list);
}

void RequireDistinct(const Setting& setting) {
  std::set<std::string_view> seen;
  for (const std::string& item : setting.items) {
    if (!seen.insert(item).second) Refuse(setting.origin, item, "is listed twice");
  }
}

}  // namespace mailbench
