// The whole of a run: what main of every binary calls.
#pragma once

#include "harness/collective/collective.h"
#include "harness/memory/transport.h"
#include "harness/watchdog/heartbeat.h"

namespace mailbench {

struct RunHooks {
  // Called at each step of this rank, see Heartbeat. Tests place faults with it.
  Heartbeat::Observer observer;
  // Where transports come from. Tests put others in their place.
  TransportFactory transports = MakeTransport;
};

// Parses, agrees, sets up, sweeps, checks and reports, in this order. Returns the exit code, the
// same on every rank; a run that cannot go on leaves the process from inside.
// REQUIRES: the first thing that main does.
int Run(int argc, char** argv, Collective& collective, const RunHooks& hooks = {});

}  // namespace mailbench
