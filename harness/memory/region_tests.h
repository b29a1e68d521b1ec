// For tests under mpirun: what every kind of region over the fake driver has to do.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "harness/error.h"
#include "harness/memory/fd_exchange.h"
#include "harness/memory/symmetric_memory.h"

namespace mailbench {

// The code and text of an error; {kPassed, ""} when there was none.
using Outcome = std::pair<ExitCode, std::string>;
Outcome OutcomeOf(const std::function<void()>& step);

// Makes the region under test, on all ranks together.
using MakeRegion = std::function<std::unique_ptr<SymmetricRegion>(const FdExchangeHooks& hooks)>;

// "3 handles": `count` a rank.
std::string Each(int count, const char* noun);

void ExpectNoMisuse();
// Every word is zero at first; what a rank stores in its successor's share, that one and all
// others see.
void ExpectSharedByAll(const SymmetricView& view);
// All ranks saw `outcome`, and nothing is left on this one.
void ExpectFailedAlike(const Outcome& outcome, std::ptrdiff_t fds, const std::string& directory);

// How often each function of the driver is called by an allocation, by rank.
std::vector<std::map<std::string, int>> CountCalls(const MakeRegion& make);
// Has each of those calls fail on each rank, one at a time: every rank says so alike, nothing is
// left anywhere, and the next allocation works. Returns the number of cases.
int ExpectEveryFailureIsSharedAndLeavesNothing(const MakeRegion& make);
// The same for Free, whose calls of `functions` fail once on each rank; the other ranks have given
// back everything.
void ExpectFailuresOfFreeAreSaidByAll(const MakeRegion& make,
                                      const std::vector<std::string>& functions);

}  // namespace mailbench
