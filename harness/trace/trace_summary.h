// Where the time of a point's traced calls went.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace mailbench {

struct TraceSummary {
  // Whose packs came last in a call is for its receivers to say: each one that had to wait names
  // the rank that it waited for longest, unless two came at once, and most of them are believed.
  int calls = 0;
  int last_rank = -1;       // that was last most often, the lowest of several; -1: none ever was
  int last_calls = 0;       // in which it was
  int undecided_calls = 0;  // in which nobody was named, or two as often
  std::vector<int> last_by_rank = {};  // calls in which each was
  // Medians over calls and ranks, microseconds.
  double publish_us = 0;      // from the start until the rank's last pack was sent
  double wait_us = 0;         // until the last pack of any rank was there
  double collect_us = 0;      // until the last CTA's end
  double clock_error_us = 0;  // by which a rank's times may be off rank 0's
  double clock_step_us = 0;   // the finest that the clock tells
};

// The rank that the others wait for: which was last in more than half of the calls; nothing where
// none was. The ranks' own times cannot tell: who waits is in a call as long as whom it waits for.
std::optional<int> Straggler(const TraceSummary& summary);

// "rank 3 was last in 61 % of 20 calls; publish 0.30 us, wait 0.90 us, collect 0.20 us (medians);
// clocks within 0.030 us of rank 0's", in one line.
std::string ToString(const TraceSummary& summary);

}  // namespace mailbench
