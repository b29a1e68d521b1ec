#include "harness/memory/transport.h"

#include <utility>

#include "harness/command_line/run_config.h"
#include "harness/error.h"
#include "harness/gpu/gpu_transport.h"
#include "harness/memory/host_transport.h"
#include "harness/ranks/ranks.h"

namespace mailbench {
namespace {

constexpr std::string_view kByPreference[] = {"multicast", "unicast", "host"};

// A transport, or why there is none.
struct Attempt {
  std::unique_ptr<Transport> transport;
  std::string refusal;
};

void GiveBack(SymmetricRegion& trial, Transport& transport) {
  try {
    trial.Free();
  } catch (const MachineError& error) {
    transport.Free();
    throw MachineError(std::string("what was tried of transport ") + std::string(transport.name()) +
                       " cannot be given back: " + error.what());
  }
}

// Of multicast, a trial is made with its memory: attributes promise it on machines that cannot.
// Throws MachineError on every rank alike where the trial cannot be given back: no run goes on
// beside a multicast object that stays.
Attempt Try(std::string_view name, const RunConfig& config, const Ranks& ranks,
            const TransportFactory& make) {
  std::unique_ptr<Transport> transport;
  std::unique_ptr<SymmetricRegion> trial;
  try {
    transport = make(name, config, ranks);
    if (name == "multicast") trial = transport->Allocate(kSymmetricAlignment);
  } catch (const MachineError& error) {
    if (transport) transport->Free();
    return {nullptr, error.what()};
  }
  if (trial) GiveBack(*trial, *transport);
  return {std::move(transport), ""};
}

// Why the transport cannot run here, "" when it can: what the choice has found out, or else a
// trial.
std::string Refusal(std::string_view name, const TransportChoice& choice, const RunConfig& config,
                    const Ranks& ranks, const TransportFactory& make) {
  if (name == choice.transport->name()) return "";
  for (const RefusedTransport& refused : choice.refused) {
    if (refused.transport == name) return refused.reason;
  }
  const Attempt attempt = Try(name, config, ranks, make);
  if (attempt.transport) attempt.transport->Free();
  return attempt.refusal;
}

}  // namespace

std::unique_ptr<Transport> MakeTransport(std::string_view name, const RunConfig& config,
                                         const Ranks& ranks) {
  if (name == "host") return std::make_unique<HostTransport>(ranks);
  if (name == "host-multicast") return std::make_unique<HostTransport>(ranks, config.seed);
  if (name == "unicast") return MakeGpuTransport(config, ranks, GpuMemory::kUnicast);
  return MakeGpuTransport(config, ranks, GpuMemory::kMulticast);
}

TransportChoice ChooseTransport(const RunConfig& config, const Ranks& ranks, bool wants_multicast,
                                const TransportFactory& make) {
  const std::string& wanted = config.transport;
  if (wanted != "auto") {
    try {
      return {make(wanted, config, ranks), {}};
    } catch (const MachineError& error) {
      throw MachineError("transport " + wanted + " cannot run here: " + error.what());
    }
  }
  TransportChoice choice;
  std::string reasons;
  for (const std::string_view name : kByPreference) {
    Attempt attempt;
    if (name == "multicast" && !wants_multicast) {
      attempt.refusal = "no algorithm of this run stores to all ranks at once";
    } else {
      attempt = Try(name, config, ranks, make);
    }
    if (attempt.transport) {
      choice.transport = std::move(attempt.transport);
      return choice;
    }
    reasons += (reasons.empty() ? "" : "; ") + std::string(name) + ": " + attempt.refusal;
    choice.refused.push_back({std::string(name), std::move(attempt.refusal)});
  }
  throw MachineError("no transport can run here: " + reasons);
}

std::string ListTransports(const TransportChoice& choice, const RunConfig& config,
                           const Ranks& ranks, const TransportFactory& make) {
  std::string text = "transports\n";
  for (const std::string_view name : {"multicast", "unicast", "host", "host-multicast"}) {
    const std::string refusal = Refusal(name, choice, config, ranks, make);
    text +=
        "  " + std::string(name) + (refusal.empty() ? "" : ": cannot run here: " + refusal) + "\n";
  }
  return text;
}

}  // namespace mailbench
