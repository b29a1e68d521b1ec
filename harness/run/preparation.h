// What a run settles before it sets up its first algorithm: the transport, what to run there, and
// where the report goes.
#pragma once

#include <set>
#include <string>

#include "harness/collective/collective.h"
#include "harness/command_line/run_config.h"
#include "harness/memory/transport.h"
#include "harness/ranks/ranks.h"
#include "harness/report/prepare.h"
#include "harness/report/run_facts.h"
#include "harness/run/points.h"

namespace mailbench {

struct Prepared {
  TransportChoice transport;
  SweepPlan plan;
  RunFacts facts;
  PreparedReport report;           // on rank 0
  std::set<std::string> finished;  // on every rank
  bool any_wrong = false;          // on every rank: in the points of the earlier run
  // On every rank: the earlier run came to its end and lacks no point of this one.
  bool complete = false;
};

// How a run of this config that was cut short is gone on with, as messages say it; "" for a stress,
// which starts anew.
std::string HowToResume(const RunConfig& config);

// Collective. Throws MachineError and UsageError on every rank alike; a SystemError may be of one
// rank alone.
Prepared Prepare(const Collective& collective, const RunConfig& config, const Ranks& ranks,
                 const TransportFactory& transports);

}  // namespace mailbench
