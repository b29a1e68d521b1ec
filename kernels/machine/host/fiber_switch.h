// Tells AddressSanitizer which stack runs: without it a fiber's frames look like wild accesses.
// Everything here is empty without the sanitizer.
#pragma once

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

namespace mailbench {

struct StackBounds {
  const void* bottom = nullptr;
  std::size_t bytes = 0;
};

#if defined(__SANITIZE_ADDRESS__)
// Before a switch to `target`. `fake_stack` keeps the leaving side's state; null when it never
// comes back.
inline void StartSwitch(void** fake_stack, const StackBounds& target) {
  __sanitizer_start_switch_fiber(fake_stack, target.bottom, target.bytes);
}
// After a switch, on the arriving side. Returns the bounds of the stack that was left.
inline StackBounds FinishSwitch(void* fake_stack) {
  StackBounds left;
  __sanitizer_finish_switch_fiber(fake_stack, &left.bottom, &left.bytes);
  return left;
}
#else
inline void StartSwitch(void** /*fake_stack*/, const StackBounds& /*target*/) {}
inline StackBounds FinishSwitch(void* /*fake_stack*/) { return {}; }
#endif

}  // namespace mailbench
