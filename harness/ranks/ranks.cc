#include "harness/ranks/ranks.h"

#include <algorithm>
#include <cstdint>

namespace mailbench {
namespace {

[[noreturn]] void ThrowTyped(ExitCode code, const std::string& text) {
  switch (code) {
    case ExitCode::kUsage:
      throw UsageError(text);
    case ExitCode::kMachine:
      throw MachineError(text);
    case ExitCode::kFailed:
      throw SystemError(text);
    case ExitCode::kPassed:
    case ExitCode::kHung:
    case ExitCode::kWrong:
      break;
  }
  throw Error(code, text);
}

}  // namespace

bool Ranks::one_host() const {
  return std::all_of(hosts_.begin(), hosts_.end(),
                     [this](const std::string& host) { return host == hosts_.front(); });
}

void Ranks::Barrier() const {
  Announce();
  Meet();
}

double Ranks::Max(double value) const {
  const std::vector<double> values = Gather(value);
  return *std::max_element(values.begin(), values.end());
}

std::vector<double> Ranks::Gather(double value) const {
  Announce();
  std::vector<double> values(static_cast<std::size_t>(size_));
  MeetWithBytes(std::as_bytes(std::span(&value, 1)), std::as_writable_bytes(std::span(values)));
  return values;
}

void Ranks::GatherWords(std::span<const std::uint32_t> own, std::span<std::uint32_t> all) const {
  Announce();
  MeetWithBytes(std::as_bytes(own), std::as_writable_bytes(all));
}

std::vector<std::string> Ranks::Gather(const std::string& text) const {
  Announce();
  return MeetWithText(text);
}

void Ranks::Vote(ExitCode code, const std::string& error) const {
  if (error.empty()) {
    code = ExitCode::kPassed;
  } else if (code == ExitCode::kPassed) {
    code = ExitCode::kFailed;
  }
  Announce();
  const auto own = static_cast<std::uint32_t>(code);
  std::vector<std::uint32_t> codes(static_cast<std::size_t>(size_));
  MeetWithBytes(std::as_bytes(std::span(&own, 1)), std::as_writable_bytes(std::span(codes)));
  ExitCode worst = ExitCode::kPassed;
  for (const std::uint32_t each : codes) worst = Worse(worst, static_cast<ExitCode>(each));
  if (worst == ExitCode::kPassed) return;
  const std::vector<std::string> texts = Gather(error);
  const auto lowest = static_cast<std::size_t>(
      std::find(codes.begin(), codes.end(), static_cast<std::uint32_t>(worst)) - codes.begin());
  const std::string& text = texts[lowest];
  if (std::all_of(texts.begin(), texts.end(),
                  [&text](const std::string& other) { return other == text; })) {
    ThrowTyped(worst, text);
  }
  const std::string host = one_host() ? "" : " on " + hosts_[lowest];
  ThrowTyped(worst, "rank " + std::to_string(lowest) + host + ": " + text);
}

}  // namespace mailbench
