// A step, and the vote of all ranks on it.
#pragma once

#include <exception>
#include <string>

#include "harness/ranks/ranks.h"

namespace mailbench {

// Collective. Runs `step` here; when it threw on any rank, throws on all alike (see Ranks::Vote)
// with `code`. REQUIRES: `step` communicates nothing.
template <typename Step>
void VoteOn(const Ranks& ranks, ExitCode code, Step&& step) {
  std::string error;
  try {
    step();
  } catch (const std::exception& failure) {
    error = failure.what();
  }
  ranks.Vote(code, error);
}

// Collective. Runs `step`, which is about a file, on rank 0 alone; when it threw an Error, throws
// it on all ranks alike. The text names rank 0 and its host only where there are other hosts: on
// one, the file is every rank's. REQUIRES: `step` communicates nothing.
template <typename Step>
void OnRankZero(const Ranks& ranks, Step&& step) {
  std::string error;
  ExitCode code = ExitCode::kPassed;
  if (ranks.rank() == 0) {
    try {
      step();
    } catch (const Error& failure) {
      error = failure.what();
      code = failure.code();
    }
  }
  if (ranks.one_host()) {
    error = ranks.Gather(error).front();
    code = static_cast<ExitCode>(static_cast<int>(ranks.Gather(static_cast<double>(code)).front()));
  }
  ranks.Vote(code, error);
}

}  // namespace mailbench
