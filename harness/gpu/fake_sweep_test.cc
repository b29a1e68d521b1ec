// The right sequence of set-up and teardown, as three ranks that are threads: whichever call fails
// or stalls on whichever rank, all ranks come to the same verdict, and nobody waits in the driver.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "harness/gpu/fake_rank.h"

namespace mailbench {
namespace {

using testing::Each;
using testing::IsEmpty;

constexpr int kRanks = 3;
constexpr std::size_t kBytes = FakeRank::kBytes;
constexpr std::chrono::milliseconds kLong{60'000};
constexpr std::chrono::milliseconds kShort{20};

enum class Verdict { kPassed, kFailed, kHung };

// A vote of all ranks that has a deadline. Once it has passed, all votes are kHung.
class Votes {
 public:
  explicit Votes(std::chrono::milliseconds deadline) : deadline_(deadline) {}

  Verdict Vote(bool worked) {
    std::unique_lock lock(mutex_);
    if (hung_) return Verdict::kHung;
    failed_ = failed_ || !worked;
    const int round = round_;
    if (++voted_ == kRanks) {
      result_ = failed_ ? Verdict::kFailed : Verdict::kPassed;
      failed_ = false;
      voted_ = 0;
      ++round_;
      done_.notify_all();
      return result_;
    }
    hung_ = !done_.wait_for(lock, deadline_, [&] { return round_ != round || hung_; }) || hung_;
    if (hung_) done_.notify_all();
    return hung_ ? Verdict::kHung : result_;
  }

 private:
  const std::chrono::milliseconds deadline_;
  std::mutex mutex_;
  std::condition_variable done_;
  int round_ = 0;
  int voted_ = 0;
  bool failed_ = false;
  bool hung_ = false;
  Verdict result_ = Verdict::kPassed;
};

// One rank's sequence. Each step is one call of the driver and a vote; what undoes it is kept.
class Sequence {
 public:
  Sequence(int rank, Votes& votes, CUmemFabricHandle& shared)
      : rank_(rank), votes_(votes), shared_(shared) {}

  Verdict Run() {
    Verdict verdict = SetUp();
    if (verdict != Verdict::kHung) verdict = std::max(verdict, GiveBack());
    return verdict;
  }

 private:
  using Call = std::function<CUresult()>;

  Verdict SetUp() {
    const DriverTable& driver = calls_.driver;
    const std::vector<std::pair<Call, Call>> steps = {
        {[&] { return calls_.CreateMemory(); }, [&] { return driver.MemRelease(calls_.memory); }},
        {[&] { return driver.MemAddressReserve(&calls_.own, kBytes, 0, 0, 0); },
         [&] { return driver.MemAddressFree(calls_.own, kBytes); }},
        {[&] { return driver.MemMap(calls_.own, kBytes, 0, calls_.memory, 0); },
         [&] { return driver.MemUnmap(calls_.own, kBytes); }},
        {[&] { return calls_.Access(calls_.own); }, {}},
        {[&] { return driver.MemsetD32(calls_.own, 0, kBytes / 4); }, {}},
        {[&] { return rank_ == 0 ? calls_.CreateObject(kRanks) : CUDA_SUCCESS; },
         [&] { return rank_ == 0 ? driver.MemRelease(calls_.object) : CUDA_SUCCESS; }},
        {[&] { return rank_ == 0 ? calls_.ExportObject(&shared_) : CUDA_SUCCESS; }, {}},
        {[&] { return rank_ == 0 ? CUDA_SUCCESS : calls_.ImportObject(&shared_); },
         [&] { return rank_ == 0 ? CUDA_SUCCESS : driver.MemRelease(calls_.object); }},
        {[&] { return calls_.AddDevice(); }, {}},
        {[&] { return calls_.Bind(); },
         [&] { return driver.MulticastUnbind(calls_.object, 0, 0, kBytes); }},
        {[&] {
           return driver.MemAddressReserve(&calls_.multicast, kBytes, FakeDriver::kMulticastMinimum,
                                           0, 0);
         },
         [&] { return driver.MemAddressFree(calls_.multicast, kBytes); }},
        {[&] { return driver.MemMap(calls_.multicast, kBytes, 0, calls_.object, 0); },
         [&] { return driver.MemUnmap(calls_.multicast, kBytes); }},
        {[&] { return calls_.Access(calls_.multicast); }, [&] { return driver.CtxSynchronize(); }}};
    for (const auto& [call, undo] : steps) {
      const bool worked = call() == CUDA_SUCCESS;
      if (worked && undo) undo_.push_front(undo);
      const Verdict verdict = votes_.Vote(worked);
      if (verdict != Verdict::kPassed) return verdict;
    }
    const unsigned word = 7;
    void* const place = reinterpret_cast<void*>(calls_.multicast);
    return votes_.Vote(FakeDriver::Current().MulticastStore(place, &word, sizeof word));
  }

  // All of it is tried, whatever is refused.
  Verdict GiveBack() {
    bool worked = true;
    for (const Call& undo : undo_) worked = undo() == CUDA_SUCCESS && worked;
    return votes_.Vote(worked);
  }

  const int rank_;
  Votes& votes_;
  CUmemFabricHandle& shared_;
  FakeRank calls_;
  std::deque<Call> undo_;  // the last step's first
};

using Calls = std::map<std::string, int>;

struct Outcome {
  std::vector<Verdict> verdicts;
  std::vector<std::string> misuse;
  std::vector<std::string> alive;
  std::vector<Calls> calls;
};

// `prepare` is given each rank's fake. The stalled rank, if any, goes on once the others are done.
Outcome RunRanks(std::chrono::milliseconds deadline, int stalls,
                 const std::function<void(int, FakeDriver&)>& prepare) {
  std::vector<FakeDriver> fakes(kRanks);
  Outcome outcome;
  outcome.verdicts.resize(kRanks);
  Votes votes(deadline);
  CUmemFabricHandle shared{};
  std::vector<std::thread> threads;
  for (std::size_t rank = 0; rank < kRanks; ++rank) {
    prepare(static_cast<int>(rank), fakes[rank]);
    threads.emplace_back([&, rank] {
      const FakeDriverScope scope(fakes[rank]);
      outcome.verdicts[rank] = Sequence(static_cast<int>(rank), votes, shared).Run();
    });
  }
  for (int rank = 0; rank < kRanks; ++rank) {
    if (rank != stalls) threads[static_cast<std::size_t>(rank)].join();
  }
  if (stalls >= 0) {
    fakes[static_cast<std::size_t>(stalls)].EndWaits();
    threads[static_cast<std::size_t>(stalls)].join();
  }
  for (const FakeDriver& fake : fakes) {
    outcome.misuse.insert(outcome.misuse.end(), fake.misuse().begin(), fake.misuse().end());
    outcome.alive.push_back(fake.Alive());
    outcome.calls.push_back(fake.calls());
  }
  return outcome;
}

bool EndsUse(const std::string& function) {
  return function == "cuCtxSynchronize" || function == "cuMemRelease" || function == "cuMemUnmap" ||
         function == "cuMemAddressFree" || function == "cuMulticastUnbind";
}

void ExpectFailedAlike(const std::string& function, int number, int rank) {
  const Outcome outcome = RunRanks(kLong, -1, [&](int each, FakeDriver& fake) {
    if (each == rank) fake.FailCall(function, number, CUDA_ERROR_UNKNOWN);
  });
  EXPECT_THAT(outcome.verdicts, Each(Verdict::kFailed));
  EXPECT_THAT(outcome.misuse, IsEmpty());
  for (int each = 0; each < kRanks; ++each) {
    // What is in use or was not taken back stays.
    const bool stays = each == rank && EndsUse(function);
    EXPECT_EQ(outcome.alive[static_cast<std::size_t>(each)].empty(), !stays) << each;
  }
}

void ExpectHungAlike(const std::string& function, int number, int rank) {
  const Outcome outcome = RunRanks(kShort, rank, [&](int each, FakeDriver& fake) {
    if (each == rank) fake.StallCall(function, number);
  });
  EXPECT_THAT(outcome.verdicts, Each(Verdict::kHung));
  EXPECT_THAT(outcome.misuse, IsEmpty());
}

TEST(FakeSweep, AnyCallThatFailsOrStallsOnAnyRankEndsAlikeOnAll) {
  const Outcome right = RunRanks(kLong, -1, [](int, FakeDriver&) {});
  EXPECT_THAT(right.verdicts, Each(Verdict::kPassed));
  EXPECT_THAT(right.misuse, IsEmpty());
  EXPECT_THAT(right.alive, Each(""));
  int cases = 0;
  for (int rank = 0; rank < kRanks; ++rank) {
    for (const auto& [function, count] : right.calls[static_cast<std::size_t>(rank)]) {
      for (int number = 0; number < count; ++number, ++cases) {
        SCOPED_TRACE(function + " " + std::to_string(number) + " on rank " + std::to_string(rank));
        ExpectFailedAlike(function, number, rank);
        ExpectHungAlike(function, number, rank);
      }
    }
  }
  std::printf("%d cases of an error, as many of a stall\n", cases);
  // Up to the object 5, create and export or import it, 5 from add to access; 8 to give back.
  EXPECT_EQ(cases, (5 + 2 + 5 + 8) + 2 * (5 + 1 + 5 + 8));
}

}  // namespace
}  // namespace mailbench
