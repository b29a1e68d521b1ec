// Every call of the driver in a region's life, on every rank of three, fails once and stalls once:
// all ranks come to the same verdict, which names the rank and the call, and nobody waits in the
// driver.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <functional>
#include <map>
#include <string>

#include "harness/memory/region_threads.h"

namespace mailbench {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

// A bind or a mapping that still waits then would wait for ever.
constexpr FakeDriverOptions kOptions{.patience = std::chrono::milliseconds(5'000)};

struct Call {
  int rank = 0;
  std::string function;
  int number = 0;
  bool in_set_up = false;
};

// `body` for each call of a life in which nothing goes wrong. Returns how many there are.
int ForEachCall(const RegionType& type, const std::function<void(const Call&)>& body) {
  const RegionEnd right = Live({.type = type, .options = kOptions});
  int calls = 0;
  for (int rank = 0; rank < kRegionRanks; ++rank) {
    const RankEnd& end = right.ranks[static_cast<std::size_t>(rank)];
    EXPECT_EQ(end.text, "");
    for (const auto& [function, count] : end.calls) {
      const auto set_up = end.set_up_calls.find(function);
      const int in_set_up = set_up == end.set_up_calls.end() ? 0 : set_up->second;
      for (int number = 0; number < count; ++number, ++calls) {
        SCOPED_TRACE(function + " " + std::to_string(number) + " on rank " + std::to_string(rank));
        body({.rank = rank,
              .function = function,
              .number = number,
              .in_set_up = number < in_set_up});
      }
    }
  }
  return calls;
}

void ExpectNothingLeftBeside(const RegionEnd& end) {
  EXPECT_EQ(end.descriptors, 0);
  EXPECT_EQ(end.files, 0);
}

// What stays of a rank whose `function` the driver refused in the teardown: what this was to give
// back, and what cannot go without it.
std::string Refused(const RegionType& type, const Call& call) {
  static const std::map<std::string, std::string> kLeft = {
      {"cuMemUnmap", "1 range, 1 mapping"},
      {"cuMemAddressFree", "1 range"},
      {"cuMemRelease", "1 handle"},
      {"cuMulticastUnbind", "1 range, 1 mapping, 1 binding"},
      {"cuCtxSynchronize", ""}};
  // The object's addresses come first, and what is bound to it stays so as long as they are mapped.
  const bool of_object = type.multicast && call.function == "cuMemUnmap" && call.number == 0;
  return of_object ? "2 ranges, 2 mappings, 1 binding" : kLeft.at(call.function);
}

void ExpectFailureIsSaidByAll(const RegionType& type, const Call& call) {
  const RegionEnd end =
      Live({.type = type, .options = kOptions, .prepare = [&](RegionRank& rank) {
              if (rank.rank != call.rank) return;
              rank.fake.FailCall(call.function, call.number, CUDA_ERROR_ILLEGAL_STATE);
            }});
  const std::string who = "rank " + std::to_string(call.rank);
  const std::string& text = end.ranks.front().text;
  EXPECT_THAT(text, StartsWith(who + ": " + call.function + " failed on " + who + " on "));
  EXPECT_THAT(text,
              HasSubstr(": CUDA_ERROR_ILLEGAL_STATE: the operation cannot be performed in the "
                        "present state"));
  EXPECT_THAT(end.ranks, Each(Field(&RankEnd::text, text)));
  EXPECT_THAT(end.ranks, Each(Field(&RankEnd::code, ExitCode::kMachine)));
  EXPECT_THAT(end.ranks, Each(Field(&RankEnd::misuse, IsEmpty())));
  // A device that may still be storing keeps it all, until it has been asked again.
  const bool kept = !call.in_set_up && call.function == "cuCtxSynchronize";
  EXPECT_THAT(end.ranks, Each(Field(&RankEnd::kept, kept)));
  for (int rank = 0; rank < kRegionRanks; ++rank) {
    const bool refused = rank == call.rank && !call.in_set_up;
    EXPECT_EQ(end.ranks[static_cast<std::size_t>(rank)].alive, refused ? Refused(type, call) : "");
  }
  ExpectNothingLeftBeside(end);
}

void ExpectStallIsSaidByAll(const RegionType& type, const Call& call) {
  const RegionEnd end = Live(
      {.type = type,
       .options = kOptions,
       .held_up = HeldUpCall{.rank = call.rank, .function = call.function, .number = call.number},
       .given_up = true});
  ASSERT_TRUE(end.diagnosis);
  EXPECT_THAT(end.diagnosis->culprits, ElementsAre(call.rank));
  EXPECT_EQ(end.diagnosis->waiting.size(), static_cast<std::size_t>(kRegionRanks) - 1);
  EXPECT_THAT(end.diagnosis->text, StartsWith("rank " + std::to_string(call.rank) + " never came"));
  EXPECT_THAT(
      end.diagnosis->text,
      HasSubstr((call.in_set_up ? "in set-up, in " : "in teardown, in ") + call.function + "\n"));
  EXPECT_THAT(end.misuse_until_then, IsEmpty());
  EXPECT_THAT(end.ranks, Each(Field(&RankEnd::code, ExitCode::kHung)));
  EXPECT_THAT(end.ranks, Each(Field(&RankEnd::text, end.diagnosis->text)));
  // Where a device may still be storing, nothing is given back.
  if (call.in_set_up || call.function != "cuCtxSynchronize") {
    EXPECT_THAT(end.ranks, Each(Field(&RankEnd::alive, "")));
  }
  ExpectNothingLeftBeside(end);
}

class RegionSweep : public testing::TestWithParam<RegionType> {
 protected:
  // Of the calls of all ranks.
  static int Expected(const RegionType& type) {
    constexpr int kSize = kRegionRanks;
    // Granularity, create, memset, synchronise, export; reserve, map, access a share; imports.
    const int set_up = 5 + 3 * kSize + (kSize - 1);
    // Synchronise; unmap, free, release a share.
    const int teardown = 1 + 3 * kSize;
    if (!type.multicast) return kSize * (set_up + teardown);
    // Granularity of the object, get and add the device, bind; reserve, map, access the object;
    // unmap, free, unbind, release it. Once: create and export it; on all others, import it.
    return kSize * (set_up + 1 + 3 + 3 + teardown + 4) + 2 + (kSize - 1);
  }
};

INSTANTIATE_TEST_SUITE_P(Types, RegionSweep,
                         testing::Values(RegionType{.multicast = false, .fabric = false},
                                         RegionType{.multicast = false, .fabric = true},
                                         RegionType{.multicast = true, .fabric = false},
                                         RegionType{.multicast = true, .fabric = true}),
                         [](const auto& type) { return NameOf(type.param); });

TEST_P(RegionSweep, WithoutAFaultNothingIsLeft) {
  const RegionEnd end = Live({.type = GetParam(), .options = kOptions});
  EXPECT_THAT(end.ranks, Each(Field(&RankEnd::code, ExitCode::kPassed)));
  EXPECT_THAT(end.ranks, Each(Field(&RankEnd::misuse, IsEmpty())));
  EXPECT_THAT(end.ranks, Each(Field(&RankEnd::alive, "")));
  ExpectNothingLeftBeside(end);
}

TEST_P(RegionSweep, AnyCallThatFailsOnAnyRankFailsAlikeOnAll) {
  const int cases =
      ForEachCall(GetParam(), [](const Call& call) { ExpectFailureIsSaidByAll(GetParam(), call); });
  std::printf("%d cases of an error\n", cases);
  EXPECT_EQ(cases, Expected(GetParam()));
}

TEST_P(RegionSweep, AnyCallThatStallsOnAnyRankIsToldByAll) {
  const int cases =
      ForEachCall(GetParam(), [](const Call& call) { ExpectStallIsSaidByAll(GetParam(), call); });
  std::printf("%d cases of a stall\n", cases);
  EXPECT_EQ(cases, Expected(GetParam()));
}

}  // namespace
}  // namespace mailbench
