// A step of one rank, and the vote of all on it.
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

}  // namespace mailbench
