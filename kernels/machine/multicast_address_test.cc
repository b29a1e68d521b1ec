// A multicast address has a type of its own, so that a plain access to it does not compile.
#include <gtest/gtest.h>

#include "kernels/machine/adversary/adversary_machine.h"
#include "kernels/machine/host/host_machine.h"

namespace mailbench {
namespace {

// A machine with one access too many.
class StoresAnywhere : public HostMachine {
 public:
  using HostMachine::store_v4;
  void store_v4(MulticastPack*, Pack) const {}
};
class LoadsAnywhere : public HostMachine {
 public:
  using HostMachine::load_volatile_v4;
  Pack load_volatile_v4(const MulticastPack*) const { return {}; }
};

TEST(MulticastAddress, IsTakenByMultimemOperationsOnly) {
  EXPECT_FALSE(TouchesMulticast<HostMachine>);
  EXPECT_FALSE(TouchesMulticast<AdversaryMachine>);
  EXPECT_TRUE(TouchesMulticast<StoresAnywhere>);
  EXPECT_TRUE(TouchesMulticast<LoadsAnywhere>);
}

TEST(MulticastAddress, OfAnotherTypeWouldBeTakenByAll) {
  EXPECT_TRUE((TouchesMulticast<HostMachine, Pack*>));
  EXPECT_TRUE((TouchesMulticast<AdversaryMachine, Pack*>));
}

}  // namespace
}  // namespace mailbench
