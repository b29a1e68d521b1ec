// What may be missing, as the values of a report.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace mailbench {

// Keys stay in the order in which they are written.
using Json = nlohmann::ordered_json;

inline Json TextOrNull(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

template <typename Number>
Json NumberOrNull(const std::optional<Number>& number) {
  return number ? Json(*number) : Json(nullptr);
}

}  // namespace mailbench
