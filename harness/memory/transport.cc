#include "harness/memory/transport.h"

#include <optional>

#include "harness/command_line/run_config.h"
#include "harness/error.h"
#include "harness/gpu/gpu_transport.h"
#include "harness/memory/host_transport.h"
#include "harness/ranks/ranks.h"

namespace mailbench {
namespace {

constexpr std::string_view kByPreference[] = {"multicast", "unicast", "host"};

// A multicast transport, with whose memory a trial has been made: attributes promise it on machines
// that cannot.
std::unique_ptr<Transport> MakeProvenMulticast(const RunConfig& config, const Ranks& ranks,
                                               const TransportFactory& make) {
  std::unique_ptr<Transport> transport = make("multicast", config, ranks);
  try {
    transport->Allocate(kSymmetricAlignment)->Free();
  } catch (const MachineError&) {
    transport->Free();
    throw;
  }
  return transport;
}

std::optional<std::string> Refusal(std::string_view name, const RunConfig& config,
                                   const Ranks& ranks, const TransportFactory& make) {
  try {
    make(name, config, ranks)->Free();
    return std::nullopt;
  } catch (const MachineError& error) {
    return error.what();
  }
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
    try {
      if (name == "multicast" && !wants_multicast) {
        throw MachineError("no algorithm of this run stores to all ranks at once");
      }
      choice.transport = name == "multicast" ? MakeProvenMulticast(config, ranks, make)
                                             : make(name, config, ranks);
      return choice;
    } catch (const MachineError& error) {
      choice.refused.push_back({std::string(name), error.what()});
      reasons += (reasons.empty() ? "" : "; ") + std::string(name) + ": " + error.what();
    }
  }
  throw MachineError("no transport can run here: " + reasons);
}

std::string ListTransports(const TransportChoice& choice, const RunConfig& config,
                           const Ranks& ranks, const TransportFactory& make) {
  std::string text = "transports\n";
  for (const std::string_view name : {"multicast", "unicast", "host", "host-multicast"}) {
    std::optional<std::string> refusal;
    if (name != choice.transport->name()) refusal = Refusal(name, config, ranks, make);
    text += "  " + std::string(name) + (refusal ? ": cannot run here: " + *refusal : "") + "\n";
  }
  return text;
}

}  // namespace mailbench
