// What a stress run has found of one algorithm, as the table prints it and the report stores it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/collective/shape.h"
#include "harness/validate/check_result.h"
#include "harness/validate/wrong_word.h"

namespace mailbench {

struct StressRecord {
  std::string collective;
  std::string algorithm;
  std::string transport;
  int ranks = 0;
  std::uint64_t seed = 0;
  std::vector<Shape> shapes;          // that calls alternate between
  std::vector<std::string> patterns;  // in which they do, in turn
  int calls_per_graph = 0;            // at most
  std::uint64_t calls_wanted = 0;

  bool finished = false;          // all calls were made and the mailbox was audited
  std::uint64_t calls = 0;        // made, and checked on every rank
  std::uint64_t wrong_calls = 0;  // with a wrong word on any rank
  CheckResult check;              // over all ranks
  std::vector<WrongWord> wrong;   // the first of the earliest wrong calls
  // Of the slowest rank:
  double verified_us = 0;  // a call, with all that verifies it and with what is late on purpose
  double bare_us = 0;      // a call without: the median over the first rounds of their graphs' mean
  double seconds = 0;      // all of it
};

double WrongPerMillion(const StressRecord& record);  // calls

}  // namespace mailbench
