#include "harness/memory/transport.h"

#include "harness/error.h"
#include "harness/memory/host_transport.h"
#include "harness/ranks/ranks.h"

namespace mailbench {
namespace {

constexpr std::string_view kByPreference[] = {"multicast", "unicast", "host"};

std::string HostsAndRanks(const Ranks& ranks) {
  std::string text;
  for (std::size_t rank = 1; rank < ranks.hosts().size(); ++rank) {
    if (ranks.hosts()[rank] != ranks.hosts()[0]) {
      return "rank 0 is on " + ranks.hosts()[0] + ", rank " + std::to_string(rank) + " on " +
             ranks.hosts()[rank];
    }
  }
  return text;
}

}  // namespace

std::optional<std::string> TransportRefusal(std::string_view name, const Ranks& ranks) {
  if (name == "host") {
    if (ranks.one_host()) return std::nullopt;
    return "it needs all ranks on one host: " + HostsAndRanks(ranks);
  }
  return "version 0.1 has the transport host only";
}

TransportChoice ChooseTransport(std::string_view wanted, const Ranks& ranks) {
  TransportChoice choice;
  std::string reasons;
  for (const std::string_view name : kByPreference) {
    if (wanted != "auto" && wanted != name) continue;
    const std::optional<std::string> refusal = TransportRefusal(name, ranks);
    if (!refusal) {
      choice.transport = std::make_unique<HostTransport>(ranks);
      return choice;
    }
    choice.refused.push_back({std::string(name), *refusal});
    reasons += (reasons.empty() ? "" : "; ") + std::string(name) + ": " + *refusal;
  }
  if (wanted == "auto") throw MachineError("no transport can run here: " + reasons);
  throw MachineError("transport " + std::string(wanted) +
                     " cannot run here: " + TransportRefusal(wanted, ranks).value_or(""));
}

std::string ListTransports(const Ranks& ranks) {
  std::string text = "transports\n";
  for (const std::string_view name : {"multicast", "unicast", "host", "host-multicast"}) {
    const std::optional<std::string> refusal = TransportRefusal(name, ranks);
    text += "  " + std::string(name) + (refusal ? ": cannot run here: " + *refusal : "") + "\n";
  }
  return text;
}

}  // namespace mailbench
