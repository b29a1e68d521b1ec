// For tests: changes of what a rank does in a region's life, made while the code runs: calls of the
// driver that are left out, repeated or altered, and votes and barriers that are left out.
#pragma once

#include <cstddef>
#include <functional>

#include "harness/memory/region_threads.h"

namespace mailbench {

// For RegionLife::prepare.
using Change = std::function<void(RegionRank& rank)>;

template <typename... Arguments>
using FakeCall = std::function<CUresult(Arguments...)> FakeCalls::*;

// The `number`th call, from 0, of a function does `wrong(rank, right, arguments...)` instead, where
// `right` is what it would have done.
template <typename... Arguments, typename Wrong>
Change Instead(FakeCall<Arguments...> call, int number, Wrong wrong) {
  return [=](RegionRank& rank) {
    rank.calls.*call = [=, &rank, right = rank.calls.*call,
                        next = 0](Arguments... arguments) mutable -> CUresult {
      return next++ == number ? wrong(rank, right, arguments...) : right(arguments...);
    };
  };
}

template <typename... Arguments>
Change LeftOut(FakeCall<Arguments...> call, int number = 0) {
  return Instead(call, number, [](RegionRank&, const auto&, auto...) { return CUDA_SUCCESS; });
}

template <typename... Arguments>
Change Repeated(FakeCall<Arguments...> call, int number = 0) {
  return Instead(call, number, [](RegionRank&, const auto& right, auto... arguments) {
    right(arguments...);
    return right(arguments...);
  });
}

// After that call this rank goes through the next `meetings` votes and barriers without the others.
template <typename... Arguments>
Change NoVoteAfter(FakeCall<Arguments...> call, int number = 0, int meetings = 1) {
  return Instead(call, number, [=](RegionRank& rank, const auto& right, auto... arguments) {
    const CUresult code = right(arguments...);
    rank.ranks.SkipMeeting(rank.ranks.meetings(), meetings);
    return code;
  });
}

inline Change OnRank(int which, const Change& change) {
  return [=](RegionRank& rank) {
    if (rank.rank == which) change(rank);
  };
}

inline Change Both(const Change& first, const Change& second) {
  return [=](RegionRank& rank) {
    first(rank);
    second(rank);
  };
}

}  // namespace mailbench
