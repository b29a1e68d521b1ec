// Tells AddressSanitizer which stack runs: without it a fiber's frames look like wild accesses.
// Everything here is empty without the sanitizer.
#pragma once

#include <boost/context/stack_context.hpp>
#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

namespace mailbench {

#if defined(__SANITIZE_ADDRESS__)
struct StackBounds {
  StackBounds() = default;
  explicit StackBounds(const boost::context::stack_context& stack)
      : bottom(static_cast<const std::byte*>(stack.sp) - stack.size), bytes(stack.size) {}

  const void* bottom = nullptr;
  std::size_t bytes = 0;
};

// What the sanitizer keeps of a stack while another runs.
struct FakeStack {
  void* kept = nullptr;
};

// Before a switch to `target`. `leaving` is null when this side never comes back.
inline void StartSwitch(FakeStack* leaving, const StackBounds& target) {
  __sanitizer_start_switch_fiber(leaving == nullptr ? nullptr : &leaving->kept, target.bottom,
                                 target.bytes);
}
// After a switch, on the arriving side. Returns the bounds of the stack that was left.
inline StackBounds FinishSwitch(const FakeStack& arriving) {
  StackBounds left;
  __sanitizer_finish_switch_fiber(arriving.kept, &left.bottom, &left.bytes);
  return left;
}
#else
struct StackBounds {
  StackBounds() = default;
  explicit StackBounds(const boost::context::stack_context& /*stack*/) {}
};
struct FakeStack {};
inline void StartSwitch(FakeStack* /*leaving*/, const StackBounds& /*target*/) {}
inline StackBounds FinishSwitch(const FakeStack& /*arriving*/) { return {}; }
#endif

}  // namespace mailbench
