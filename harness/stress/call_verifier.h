// Verifies calls where they run: inputs are filled and outputs compared by what is enqueued beside
// the calls, so that a graph is verified each time it is replayed, and calls follow each other
// without the host.
#pragma once

#include <cstdint>
#include <vector>

#include "harness/validate/wrong_word.h"

namespace mailbench {

struct PlantedFault;

// What one rank has found.
struct Verdict {
  std::uint64_t compared = 0;     // words
  std::uint64_t mismatches = 0;   // of these
  std::uint64_t wrong_calls = 0;  // calls with any
  std::vector<WrongWord> wrong;   // the first that was seen of each, by call; of so many that fit
};

// Of the calls of an instance as it is bound, in batches: calls that are made one after the other,
// filled together before the first and verified together after the last. Calls are numbered in the
// order in which batches are enqueued.
class CallVerifier {
 public:
  virtual ~CallVerifier() = default;
  // For tests: see kernels/stress/call_log.h. REQUIRES: nothing has been enqueued or recorded.
  virtual void Plant(const PlantedFault& fault) = 0;
  // The number of the first call of the batch that is filled next. REQUIRES: nothing is enqueued.
  virtual void StartAt(std::uint64_t call) = 0;
  // Gives the inputs of the batch's calls their payloads.
  virtual void EnqueueFill(int batch) = 0;
  // Compares whole outputs with the payloads of all ranks, and poisons them.
  virtual void EnqueueVerify(int batch) = 0;
  // What has been found since the last Take. Waits for all that is enqueued.
  virtual Verdict Take() = 0;
  // Finds out where the seen word comes from; may take long.
  virtual void FindOrigin(WrongWord* wrong) const = 0;
};

}  // namespace mailbench
