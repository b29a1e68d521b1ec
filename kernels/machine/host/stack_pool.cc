#include "kernels/machine/host/stack_pool.h"

#include <sys/mman.h>
#include <unistd.h>

#include <new>

#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#else
#define VALGRIND_STACK_REGISTER(start, end) 0u
#define VALGRIND_STACK_DEREGISTER(id) static_cast<void>(id)
#endif

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_UNPOISON_MEMORY_REGION(address, size) static_cast<void>(0)
#endif

namespace mailbench {

StackPool::StackPool(std::size_t stack_bytes)
    : stack_bytes_(stack_bytes), page_bytes_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))) {}

StackPool::~StackPool() {
  for (const Stack& stack : stacks_) {
    VALGRIND_STACK_DEREGISTER(stack.valgrind_id);
    munmap(stack.mapping, page_bytes_ + stack_bytes_);
  }
}

boost::context::stack_context StackPool::Allocate() {
  if (free_.empty()) {
    void* mapping = mmap(nullptr, page_bytes_ + stack_bytes_, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapping == MAP_FAILED) throw std::bad_alloc();
    auto* bottom = static_cast<std::byte*>(mapping) + page_bytes_;
    mprotect(mapping, page_bytes_, PROT_NONE);
    stacks_.push_back(
        {static_cast<std::byte*>(mapping), VALGRIND_STACK_REGISTER(bottom, bottom + stack_bytes_)});
    free_.reserve(stacks_.size());
    free_.push_back(bottom);
  }
  boost::context::stack_context stack;
  stack.size = stack_bytes_;
  stack.sp = free_.back() + stack_bytes_;
  free_.pop_back();
  return stack;
}

void StackPool::Deallocate(const boost::context::stack_context& stack) noexcept {
  std::byte* bottom = static_cast<std::byte*>(stack.sp) - stack_bytes_;
  // Frames that an exception left keep their red zones poisoned for the stack's next user.
  ASAN_UNPOISON_MEMORY_REGION(bottom, stack_bytes_);
  free_.push_back(bottom);
}

}  // namespace mailbench
