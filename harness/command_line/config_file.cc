#include "harness/command_line/config_file.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>

#include "harness/command_line/quote.h"
#include "harness/error.h"

namespace mailbench {
namespace {

enum class JsonType { kNull, kBoolean, kNumber, kString, kArray, kObject };

const char* Named(JsonType type) {
  switch (type) {
    case JsonType::kNull:
      return "null";
    case JsonType::kBoolean:
      return "a boolean";
    case JsonType::kNumber:
      return "a number";
    case JsonType::kString:
      return "a string";
    case JsonType::kArray:
      return "an array";
    case JsonType::kObject:
      return "an object";
  }
  return "";
}

struct Expectation {
  bool boolean = false;
  bool number = false;
  bool string = false;
  const char* words;
};

Expectation Expected(FlagType type) {
  switch (type) {
    case FlagType::kSize:
      return {.number = true, .string = true, .words = "a number or a string such as \"16K\""};
    case FlagType::kSizeList:
      return {.number = true, .string = true, .words = "an array of numbers or strings"};
    case FlagType::kCount:
      return {.number = true, .words = "a whole number"};
    case FlagType::kSeconds:
      return {.number = true, .words = "a number"};
    case FlagType::kZeroOrOne:
      return {.boolean = true, .number = true, .words = "a boolean, 0 or 1"};
    case FlagType::kWord:
    case FlagType::kPath:
      return {.string = true, .words = "a string"};
    case FlagType::kWordList:
      return {.string = true, .words = "an array of strings"};
    case FlagType::kOwn:
      return {.number = true, .string = true, .words = "a string or a number"};
    case FlagType::kSwitch:
      return {.boolean = true, .words = "a boolean"};
  }
  return {.words = "nothing"};
}

// Receives the parser's events. nlohmann::json itself keeps the last of duplicate keys silently and
// loses the text of a number; its events lose neither.
class ConfigHandler : public nlohmann::json_sax<nlohmann::json> {
 public:
  ConfigHandler(const std::string& origin, const std::vector<Flag>& flags)
      : origin_(origin), flags_(flags) {}

  Settings Take() { return std::move(settings_); }

  bool null() override { return Value(JsonType::kNull, ""); }
  bool boolean(bool value) override {
    if (flag_ != nullptr && flag_->type == FlagType::kZeroOrOne) {
      return Value(JsonType::kBoolean, value ? "1" : "0");
    }
    return Value(JsonType::kBoolean, value ? "true" : "false");
  }
  bool number_integer(number_integer_t value) override {
    return Value(JsonType::kNumber, std::to_string(value));
  }
  bool number_unsigned(number_unsigned_t value) override {
    return Value(JsonType::kNumber, std::to_string(value));
  }
  bool number_float(number_float_t /*value*/, const string_t& text) override {
    return Value(JsonType::kNumber, text);
  }
  bool string(string_t& text) override { return Value(JsonType::kString, text); }
  bool binary(binary_t& /*value*/) override { return Value(JsonType::kNull, ""); }

  bool start_object(std::size_t /*elements*/) override {
    if (flag_ != nullptr) RefuseType(JsonType::kObject);
    return true;
  }
  bool key(string_t& name) override {
    flag_ = FindFlag(flags_, name);
    if (flag_ == nullptr) throw UsageError(origin_ + ": unknown key " + Quote(name));
    if (!flag_->config_key) {
      throw UsageError(origin_ + ": " + Quote(name) + " is a flag of the command line alone");
    }
    const auto [place, is_new] =
        settings_.emplace(name, Setting{origin_ + ": key " + Quote(name), {}});
    if (!is_new) throw UsageError(place->second.origin + " is given twice");
    setting_ = &place->second;
    return true;
  }
  bool end_object() override { return true; }
  bool start_array(std::size_t /*elements*/) override {
    RequireObject();
    if (in_array_ || !IsList(flag_->type)) RefuseType(JsonType::kArray);
    in_array_ = true;
    return true;
  }
  bool end_array() override {
    in_array_ = false;
    if (setting_->items.empty()) throw UsageError(setting_->origin + ": the list is empty");
    return true;
  }

  bool parse_error(std::size_t /*position*/, const std::string& /*token*/,
                   const nlohmann::detail::exception& error) override {
    std::string_view what = error.what();
    // "[json.exception.parse_error.101] parse error at line 1, column 2: ..."
    if (const std::size_t end = what.find("] "); end != std::string_view::npos) {
      what.remove_prefix(end + 2);
    }
    throw UsageError(origin_ + " is not JSON: " + Printable(what));
  }

 private:
  void RequireObject() const {
    if (flag_ == nullptr) throw UsageError(origin_ + ": the config must be one JSON object");
  }
  [[noreturn]] void RefuseType(JsonType type) const {
    throw UsageError(setting_->origin + ": expected " + Expected(flag_->type).words + ", found " +
                     Named(type) + (in_array_ ? " in the array" : ""));
  }
  bool Value(JsonType type, std::string text) {
    RequireObject();
    const Expectation expected = Expected(flag_->type);
    const bool fits = (type == JsonType::kBoolean && expected.boolean) ||
                      (type == JsonType::kNumber && expected.number) ||
                      (type == JsonType::kString && expected.string);
    if (!fits) RefuseType(type);
    setting_->items.push_back(std::move(text));
    return true;
  }

  const std::string& origin_;
  const std::vector<Flag>& flags_;
  Settings settings_;
  bool in_array_ = false;
  const Flag* flag_ = nullptr;  // of the current key; nullptr before the first
  Setting* setting_ = nullptr;
};

}  // namespace

Settings ParseConfigText(std::string_view text, const std::string& origin,
                         const std::vector<Flag>& flags) {
  // The parser takes a NUL for the end, and would not see what follows.
  if (text.find('\0') != std::string_view::npos) {
    throw UsageError(origin + " is not JSON: it holds a NUL character");
  }
  ConfigHandler handler(origin, flags);
  nlohmann::json::sax_parse(text.begin(), text.end(), &handler);
  return handler.Take();
}

Settings ReadConfigFile(const std::string& path, const std::vector<Flag>& flags) {
  const std::string origin = "--config " + Quote(path);
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) {
    throw UsageError(origin + ": " + (error ? error.message() : "no such file"));
  }
  if (std::filesystem::is_directory(status)) throw UsageError(origin + " is a directory");
  // Opening a pipe could wait for ever.
  if (!std::filesystem::is_regular_file(status)) {
    throw UsageError(origin + " is not a regular file");
  }
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) throw UsageError(origin + " cannot be read: " + std::strerror(errno));
  std::string text(kLargestConfigFile + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad()) throw UsageError(origin + " cannot be read: " + std::strerror(errno));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > kLargestConfigFile) throw UsageError(origin + " is larger than 1 MiB");
  return ParseConfigText(text, origin, flags);
}

}  // namespace mailbench
