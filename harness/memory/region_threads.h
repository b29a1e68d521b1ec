// For tests: a region's whole life, set-up, use and teardown, on three ranks that are threads, each
// with a fake driver and a GPU of its own (the one of its number), under the eyes of one who ends
// what does not go on.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "harness/error.h"
#include "harness/gpu/fake_calls.h"
#include "harness/gpu/fake_driver.h"
#include "harness/memory/symmetric_memory.h"
#include "harness/ranks/thread_ranks.h"
#include "harness/watchdog/diagnosis.h"

namespace mailbench {

inline constexpr int kRegionRanks = 3;

struct RegionType {
  bool multicast = false;
  bool fabric = false;  // handles; otherwise descriptors
};
std::string NameOf(const RegionType& type);  // "MulticastFabric"
void PrintTo(const RegionType& type, std::ostream* out);

// One rank, while it runs.
struct RegionRank {
  int rank;
  ThreadRanks& ranks;
  FakeDriver& fake;
  FakeCalls& calls;
  std::vector<std::string>& complaints;  // to be told in RankEnd
};

// A call that waits until everybody else has ended or waits for this rank.
struct HeldUpCall {
  int rank = 0;
  std::string function;
  int number = 0;  // from 0, in all of the life
};

struct RegionLife {
  RegionType type;
  std::size_t bytes = 16;
  FakeDriverOptions options = {};
  // On each rank's own thread: before the set-up, and between set-up and teardown.
  std::function<void(RegionRank& rank)> prepare = nullptr;
  std::function<void(RegionRank& rank, const SymmetricView& view)> use = nullptr;
  std::optional<HeldUpCall> held_up = std::nullopt;
  // What ends the holding up: the call goes on, or everybody is told to give up, with a diagnosis,
  // and the call goes on once all others have ended.
  bool given_up = false;
};

struct RankEnd {
  ExitCode code = ExitCode::kPassed;
  std::string text;   // of the error; "" without one
  bool kept = false;  // the region was whole after the error
  std::string alive;  // FakeDriver::Alive
  std::vector<std::string> misuse;
  std::vector<std::string> complaints;
  std::map<std::string, int> set_up_calls;  // by function; empty when set-up has failed
  std::map<std::string, int> calls;         // of all of the life
};

// For messages of tests.
void PrintTo(const RankEnd& end, std::ostream* out);

struct RegionEnd {
  std::vector<RankEnd> ranks = std::vector<RankEnd>(kRegionRanks);
  std::optional<Diagnosis> diagnosis;          // of what was given up
  std::vector<std::string> misuse_until_then;  // of all ranks, when it was given up
  std::ptrdiff_t descriptors = 0;              // more than there were at the start
  std::ptrdiff_t files = 0;                    // left where descriptors were exchanged
};

// A region that could not be freed together is tried a second time. When all that have not ended
// wait for those that have, they give up.
RegionEnd Live(const RegionLife& life);

}  // namespace mailbench
