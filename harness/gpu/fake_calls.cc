#include "harness/gpu/fake_calls.h"

#include "harness/gpu/fake_driver.h"

namespace mailbench {
namespace {

thread_local FakeCalls* calls_of_thread = nullptr;

DriverTable MakeTable() {
  DriverTable table;
#define MAILBENCH_FORWARD(name, version)             \
  if (FakeDriver::table().name != nullptr) {         \
    table.name = [](auto... arguments) -> CUresult { \
      return calls_of_thread->name(arguments...);    \
    };                                               \
  }
  MAILBENCH_DRIVER_FUNCTIONS(MAILBENCH_FORWARD)
#undef MAILBENCH_FORWARD
  return table;
}

}  // namespace

FakeCalls::FakeCalls() {
#define MAILBENCH_TAKE(name, version) name = FakeDriver::table().name;
  MAILBENCH_DRIVER_FUNCTIONS(MAILBENCH_TAKE)
#undef MAILBENCH_TAKE
}

const DriverTable& FakeCallsTable() {
  static const DriverTable table = MakeTable();
  return table;
}

FakeCallsScope::FakeCallsScope(FakeCalls& calls) { calls_of_thread = &calls; }

FakeCallsScope::~FakeCallsScope() { calls_of_thread = nullptr; }

}  // namespace mailbench
