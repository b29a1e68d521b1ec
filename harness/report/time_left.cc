#include "harness/report/time_left.h"

#include <algorithm>

namespace mailbench {
namespace {

constexpr double kTrustedShare = 0.02;

}  // namespace

std::optional<double> TimeLeft(const WorkDone& work) {
  if (work.expected_s <= 0) return std::nullopt;
  const double trusted = kTrustedShare * work.expected_s;
  const double done = work.expected_done_s + trusted;
  const double taken = work.taken_s + trusted;
  const double rest = work.expected_s - work.expected_done_s - work.current_expected_s;
  if (work.current_share) {
    const double share = std::clamp(*work.current_share, 0.0, 1.0);
    const double factor = (taken + work.current_taken_s) / (done + share * work.current_expected_s);
    return std::max(0.0, factor * (rest + (1 - share) * work.current_expected_s));
  }
  // The current part is at most done.
  const double factor =
      std::max(taken / done, (taken + work.current_taken_s) / (done + work.current_expected_s));
  const double current = factor * work.current_expected_s - work.current_taken_s;
  return std::max(0.0, current) + std::max(0.0, factor * rest);
}

}  // namespace mailbench
