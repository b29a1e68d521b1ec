// For tests: the fake driver's functions one by one, so that a test can have a rank's calls
// dropped, repeated, altered or followed by something else, while the code under test is as it is.
#pragma once

#include <functional>
#include <type_traits>

#include "harness/gpu/driver.h"

namespace mailbench {

// What the functions of FakeCallsTable do in one thread: at first what the fake's do.
struct FakeCalls {
  FakeCalls();

#define MAILBENCH_DECLARE(name, version)                                    \
  /* NOLINTNEXTLINE(bugprone-macro-parentheses): a name that is declared */ \
  std::function<std::remove_pointer_t<PFN_cu##name##_v##version>> name;
  MAILBENCH_DRIVER_FUNCTIONS(MAILBENCH_DECLARE)
#undef MAILBENCH_DECLARE
};

// Each function does as the calling thread's FakeCalls say. REQUIRES: a FakeCallsScope in that
// thread.
const DriverTable& FakeCallsTable();

// Makes `calls` those of this thread while it exists. Not to be nested.
class FakeCallsScope {
 public:
  explicit FakeCallsScope(FakeCalls& calls);
  ~FakeCallsScope();
  FakeCallsScope(const FakeCallsScope&) = delete;
  FakeCallsScope& operator=(const FakeCallsScope&) = delete;
};

}  // namespace mailbench
