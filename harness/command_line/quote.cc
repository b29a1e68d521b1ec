#include "harness/command_line/quote.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace mailbench {
namespace {

constexpr std::size_t kLongestQuote = 80;
constexpr std::size_t kLongestMessage = 400;

std::string Escaped(std::string_view text, std::size_t longest) {
  const std::string shown(text.substr(0, longest));
  return nlohmann::json(shown).dump(-1, ' ', /*ensure_ascii=*/true,
                                    nlohmann::json::error_handler_t::replace);
}

}  // namespace

std::string Quote(std::string_view text) {
  return Escaped(text, kLongestQuote) + (text.size() > kLongestQuote ? "..." : "");
}

std::string Printable(std::string_view text) {
  std::string escaped = Escaped(text, kLongestMessage);
  escaped = escaped.substr(1, escaped.size() - 2);
  // Quotes inside a message need no escape.
  for (std::size_t at = 0; (at = escaped.find('\\', at)) != std::string::npos; ++at) {
    if (at + 1 < escaped.size() && (escaped[at + 1] == '"' || escaped[at + 1] == '\\')) {
      escaped.erase(at, 1);
    }
  }
  return escaped + (text.size() > kLongestMessage ? "..." : "");
}

bool IsPlainText(std::string_view text) {
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  if (std::any_of(text.begin(), text.end(), is_control)) return false;
  try {
    nlohmann::json(std::string(text)).dump();
  } catch (const nlohmann::json::type_error&) {  // no UTF-8
    return false;
  }
  return true;
}

}  // namespace mailbench
