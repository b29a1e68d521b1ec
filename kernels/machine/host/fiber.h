// A function that can pause in the middle and be continued: each thread of a kernel is one, on the
// host machine and on the adversary's.
#pragma once

#include <boost/context/fiber.hpp>
#include <exception>
#include <memory>
#include <utility>

#include "kernels/machine/host/fiber_switch.h"
#include "kernels/machine/host/stack_pool.h"

namespace mailbench {

// Everything but Suspend is called from outside, all of it on one operating-system thread. No
// handler of an exception may be open across a Suspend: the C++ runtime keeps those per
// operating-system thread.
class Fiber {
 public:
  Fiber() = default;
  ~Fiber() { Unwind(); }
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // Takes a stack of the pool, which outlives the fiber, until `function()` has ended; it begins
  // with the first Resume. REQUIRES: done(). Throws std::bad_alloc when there is no stack.
  template <typename Function>
  void Start(StackPool& stacks, Function function);

  // Runs the function until it suspends or ends. Throws on what it threw. REQUIRES: !done().
  void Resume();

  // From inside: returns when the fiber is resumed. Throws when it is unwound instead.
  void Suspend();

  // Whether nothing is left to run: not started yet, or ended.
  bool done() const { return !context_; }

  // Ends a function that has not: its frames are left as by an exception, and whatever it throws
  // meanwhile is dropped. REQUIRES: the function does not suspend for ever.
  void Unwind() noexcept;

 private:
  struct Unwound {};  // thrown by Suspend

  void Switch();
  template <typename Function>
  void Run(Function& function) noexcept;

  boost::context::fiber context_;  // while it is suspended
  boost::context::fiber caller_;   // while it runs
  std::exception_ptr failure_;
  bool unwinding_ = false;
  [[no_unique_address]] FakeStack fake_stack_;  // while it is suspended
  [[no_unique_address]] StackBounds stack_;
  [[no_unique_address]] StackBounds caller_stack_;
};

template <typename Function>
void Fiber::Start(StackPool& stacks, Function function) {
  const boost::context::stack_context stack = stacks.Allocate();
  stack_ = StackBounds(stack);
  unwinding_ = false;
  context_ = boost::context::fiber(
      std::allocator_arg, boost::context::preallocated(stack.sp, stack.size, stack),
      PooledStack(stacks),
      [this, function = std::move(function)](boost::context::fiber&& caller) mutable {
        caller_stack_ = FinishSwitch(FakeStack{});
        caller_ = std::move(caller);
        Run(function);
        StartSwitch(nullptr, caller_stack_);
        return std::move(caller_);
      });
}

template <typename Function>
void Fiber::Run(Function& function) noexcept {
  if (unwinding_) return;  // before it began
  try {
    function();
  } catch (...) {
    failure_ = std::current_exception();  // or Unwound, which Unwind drops
  }
}

// Into the fiber, and back.
inline void Fiber::Switch() {
  FakeStack fake_stack;
  StartSwitch(&fake_stack, stack_);
  context_ = std::move(context_).resume();
  FinishSwitch(fake_stack);
}

inline void Fiber::Resume() {
  Switch();
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

inline void Fiber::Suspend() {
  StartSwitch(&fake_stack_, caller_stack_);
  caller_ = std::move(caller_).resume();
  caller_stack_ = FinishSwitch(fake_stack_);
  if (unwinding_) throw Unwound();
}

inline void Fiber::Unwind() noexcept {
  unwinding_ = true;
  while (!done()) Switch();
  failure_ = nullptr;
}

}  // namespace mailbench
