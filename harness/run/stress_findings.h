// What a stress has found so far, for whichever thread ends the run.
#pragma once

#include <mutex>
#include <vector>

#include "harness/report/stress_record.h"
#include "harness/watchdog/ending.h"

namespace mailbench {

class StressFindings {
 public:
  // Of an algorithm that is to be stressed, or, in place of that, what has been found of it since.
  void Note(const StressRecord& record);
  // Adds to the reason how many calls of each algorithm were made, and how many of them were wrong.
  // Where any was, the run ends as Worse says. Does nothing before the first Note. From any thread.
  void AddTo(Ending& ending) const;

 private:
  mutable std::mutex mutex_;           // guards what follows
  std::vector<StressRecord> records_;  // one an algorithm, in the order in which they are stressed
};

}  // namespace mailbench
