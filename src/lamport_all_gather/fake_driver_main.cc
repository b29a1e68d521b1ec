// lamport_all_gather over the fake driver, for tests: its mailboxes are made call by call as on
// GPUs, and its multicast stores go where the object leads.
//
// usage: lamport_all_gather_fake_driver FAULT [FLAG]...
//   FAULT  -                             none
//          error:RANK:FUNCTION:NUMBER    that call (from 0) of the driver fails on that rank
//          stall:RANK:FUNCTION:NUMBER    it never returns
//          elsewhere:RANK                that rank's GPU is in another NVLink domain
//          no-channel:RANK               it has no channel for FABRIC handles
// Afterwards each rank that left the run of its own will says what the driver saw, "rank 1:
// cuMulticastBindMem 2 times, ...", and exits with 9 where a call broke the driver's contract or
// something is left.
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <string_view>

#include "harness/gpu/fake_driver.h"
#include "harness/gpu/fake_gpu_transport.h"
#include "harness/ranks/launcher.h"
#include "harness/run/run.h"
#include "src/lamport_all_gather/lamport_all_gather.h"

namespace mailbench {
namespace {

constexpr int kBreach = 9;

struct Fault {
  std::string kind;
  int rank = -1;
  std::string function;
  int number = 0;
};

Fault ParseFault(const std::string& text) {
  std::istringstream in(text);
  Fault fault;
  std::string rank;
  std::string number;
  std::getline(in, fault.kind, ':');
  if (std::getline(in, rank, ':')) fault.rank = std::atoi(rank.c_str());
  std::getline(in, fault.function, ':');
  if (std::getline(in, number, ':')) fault.number = std::atoi(number.c_str());
  return fault;
}

void Plant(const Fault& fault, FakeDriver& fake) {
  if (fault.kind == "error") fake.FailCall(fault.function, fault.number, CUDA_ERROR_NOT_SUPPORTED);
  if (fault.kind == "stall") fake.StallCall(fault.function, fault.number);
  if (fault.kind == "no-channel") fake.options().fabric = false;
}

int Inspect(const FakeDriver& fake, int rank) {
  std::string calls;
  for (const auto& [function, count] : fake.calls()) {
    calls += (calls.empty() ? "" : ", ") + function + " " + std::to_string(count) + " times";
  }
  std::printf("rank %d: %s\n", rank, calls.c_str());
  for (const std::string& breach : fake.misuse()) {
    std::fprintf(stderr, "fake driver: rank %d: %s\n", rank, breach.c_str());
  }
  if (!fake.Alive().empty()) {
    std::fprintf(stderr, "fake driver: rank %d left %s\n", rank, fake.Alive().c_str());
  }
  return fake.misuse().empty() && fake.Alive().empty() ? 0 : kBreach;
}

}  // namespace
}  // namespace mailbench

int main(int argc, char** argv) {
  using namespace mailbench;  // NOLINT(google-build-using-namespace): a program's main
  if (argc < 2) return 2;
  const Fault fault = ParseFault(argv[1]);
  argv[1] = argv[0];
  const int rank = ReadLauncherEnvironment().rank;
  FakeDriver& fake = FakeDriver::Get();
  if (rank == fault.rank) Plant(fault, fake);
  FakeGpus gpus;
  if (fault.kind == "elsewhere") gpus.elsewhere = fault.rank;
  RunHooks hooks;
  hooks.transports = [gpus](std::string_view name, const RunConfig& config, const Ranks& ranks) {
    return MakeFakeGpuTransport(name, config, ranks, gpus);
  };
  LamportAllGather collective;
  const int code = Run(argc - 1, argv + 1, collective, hooks);
  const int breach = Inspect(fake, rank);
  return breach != 0 ? breach : code;
}
