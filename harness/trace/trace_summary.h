// Where the time of a point's traced calls went.
#pragma once

#include <string>

namespace mailbench {

struct TraceSummary {
  // Each rank's view of each call counts by itself. The last rank of a call is the one whose
  // packs came last of those that had to be waited for; nobody is when none had to be, or when two
  // of them were seen at once.
  int calls = 0;
  int last_rank = -1;  // the one that was last most often, the lowest of several; -1: none ever was
  int last_calls = 0;  // in which it was
  int undecided_calls = 0;  // in which nobody was
  // Medians, microseconds.
  double publish_us = 0;      // from the start until the rank's last pack was sent
  double wait_us = 0;         // until the last pack of any rank was there
  double collect_us = 0;      // until the last CTA's end
  double clock_error_us = 0;  // by which a rank's times may be off rank 0's
  double clock_step_us = 0;   // the finest that the clock tells
};

// "rank 3 was last in 61 % of 40 calls; publish 0.30 us, wait 0.90 us, collect 0.20 us (medians);
// clocks within 0.030 us of rank 0's", in one line.
std::string ToString(const TraceSummary& summary);

}  // namespace mailbench
