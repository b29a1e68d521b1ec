// Stacks for fibers: allocated once, handed out and taken back in constant time.
#pragma once

#include <boost/context/stack_context.hpp>
#include <cstddef>
#include <vector>

namespace mailbench {

// Not thread-safe: one pool a scheduler.
class StackPool {
 public:
  // A device function needs about 1 KB of stack without optimisation; sanitizers and the C library
  // under a failing assertion need more.
  explicit StackPool(std::size_t stack_bytes = kStackBytes);
  ~StackPool();  // REQUIRES: every stack has been given back
  StackPool(const StackPool&) = delete;
  StackPool& operator=(const StackPool&) = delete;

  // Throws std::bad_alloc when the system has no more memory.
  boost::context::stack_context Allocate();
  void Deallocate(const boost::context::stack_context& stack) noexcept;

  static constexpr std::size_t kStackBytes = std::size_t{32} * 1024;

 private:
  struct Stack {
    std::byte* mapping;  // begins with an inaccessible page: an overflow faults
    unsigned valgrind_id;
  };

  std::size_t stack_bytes_;
  std::size_t page_bytes_;
  std::vector<Stack> stacks_;
  std::vector<std::byte*> free_;
};

// The form in which boost::context::fiber takes a pool.
class PooledStack {
 public:
  explicit PooledStack(StackPool& pool) : pool_(&pool) {}
  boost::context::stack_context allocate() { return pool_->Allocate(); }
  void deallocate(boost::context::stack_context& stack) noexcept { pool_->Deallocate(stack); }

 private:
  StackPool* pool_;
};

}  // namespace mailbench
