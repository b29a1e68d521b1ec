// Text to numbers, strictly: no sign, no white space, no exponent, nothing left over. Every
// function throws UsageError that names the setting and quotes the value.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/command_line/settings.h"

namespace mailbench {

constexpr std::int64_t kSizeUnit = 16;                        // every size is a multiple of it
constexpr std::int64_t kLargestSize = std::int64_t{1} << 36;  // 64 GiB

// Throws UsageError "ORIGIN: "VALUE" PROBLEM".
[[noreturn]] void Refuse(const std::string& origin, std::string_view value,
                         const std::string& problem);

// Bytes: digits and an optional K, M or G (k, m, g). A positive multiple of 16, at most 64 GiB.
std::int64_t ParseSize(const std::string& origin, std::string_view text);

// A whole number in [least, most].
std::uint64_t ParseCount(const std::string& origin, std::string_view text, std::uint64_t least,
                         std::uint64_t most);

// Digits with an optional decimal point inside, in [least, most].
double ParseDecimal(const std::string& origin, std::string_view text, double least, double most);

// Throws unless `text` is one of `accepted`; the message lists them.
void RequireOneOf(const std::string& origin, std::string_view text,
                  const std::vector<std::string_view>& accepted);

// Throws unless every item is there once.
void RequireDistinct(const Setting& setting);

}  // namespace mailbench
