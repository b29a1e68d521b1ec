// Where the time of a point's traced calls went.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace mailbench {

struct TraceSummary {
  // Whose packs came last in a call is for its receivers to say: each one that had to wait names
  // the rank that it waited for longest, unless two came at once or that was itself, and most of
  // them are believed.
  int calls = 0;
  int last_rank = -1;       // that was last most often, the lowest of several; -1: none ever was
  int last_calls = 0;       // in which it was
  int undecided_calls = 0;  // in which nobody was named, or two as often
  std::vector<int> last_by_rank = {};  // calls in which each was
  // By how much last_rank was late, which needs no common clock: from their own last pack until
  // its, the receivers that named it waited (their median) so much longer than it did itself for
  // whatever came last to it. Median over the calls in which it was last, microseconds; 0: none.
  double last_by_us = 0;
  // Medians over calls and ranks, microseconds.
  double publish_us = 0;      // from the start until the rank's last pack was sent
  double wait_us = 0;         // until the last pack of any rank was there
  double collect_us = 0;      // until the last CTA's end
  double clock_error_us = 0;  // by which a rank's times may be off rank 0's
  double clock_step_us = 0;   // the finest that the clock tells
};

// Some rank is last in every call. Who is so by no more than this part of the point's p50, or by no
// more than the clock tells, keeps nobody waiting.
inline constexpr double kLeastLatenessOfP50 = 0.05;

// The rank that the others wait for: which was last in more than half of the calls, by more than
// the clock's step and kLeastLatenessOfP50 of `p50_us`; nothing where none was. The ranks' own
// times cannot tell: who waits is in a call as long as whom it waits for.
std::optional<int> Straggler(const TraceSummary& summary, double p50_us);
// Which of that failed, "rank 1 was last in 60 % of the traced calls, but by 0.020 us only: ...".
// REQUIRES: there is no straggler.
std::string WhyNoStraggler(const TraceSummary& summary, double p50_us);

// "rank 3 was last in 60 % of 20 calls by 0.45 us; publish 0.30 us, wait 0.90 us, collect 0.20 us
// (medians); clocks within 0.030 us of rank 0's", in one line.
std::string ToString(const TraceSummary& summary);

}  // namespace mailbench
