// Runs a kernel's grid on one operating-system thread: each CUDA thread is a fiber.
//
// CTAs start in the order of their index, as many at a time as may be resident, and a CTA's place
// goes to the next one when its last thread has returned. A fiber runs until it waits: at a
// barrier, in a warp operation, or in a poll that saw nothing new; in a poll it sleeps until the
// word that it saw has changed. When every fiber waits in a poll, the thread offers the processor
// to other processes (sched_yield): the words that are polled come from there.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "kernels/machine/host/fiber.h"
#include "kernels/machine/host/late_stores.h"
#include "kernels/machine/host/stack_pool.h"
#include "kernels/machine/pack.h"

namespace mailbench {

struct GridDims {
  int ctas = 0;
  int threads = 0;  // a CTA
};

class GridRunner;

// What a kernel's thread reaches the scheduler through.
class HostThread {
 public:
  int thread_index() const { return thread_index_; }
  int cta_index() const;
  const GridDims& dims() const;
  void* shared() const;  // the CTA's shared memory, zeroed when the CTA starts

  // Waits for every thread of the CTA that has not returned.
  void CtaBarrier();
  // Gives `value` to the warp and returns the values of all 32 lanes, 0 for lanes beyond the end of
  // the CTA. Valid until the caller's next call. REQUIRES: every thread of the warp calls it; a
  // lane that has returned is a std::logic_error.
  const std::uint32_t* WarpExchange(std::uint32_t value);
  // Lets other fibers run until the site's word has changed. False when the run is being given up.
  bool PollAgain(const PollSite& site);

 private:
  friend class GridRunner;
  enum class State { kReady, kPolling, kBarrier, kWarp, kReturned };
  struct Cta;
  struct Warp;

  void Wait(State state);

  GridRunner* runner_ = nullptr;
  Cta* cta_ = nullptr;
  int thread_index_ = 0;
  State state_ = State::kReturned;
  std::uint32_t warp_operations_ = 0;
  PollSite site_{};  // in state kPolling
  Fiber fiber_;      // done until the thread first runs
};

class GridRunner {
 public:
  using Kernel = std::function<void(HostThread&)>;

  explicit GridRunner(int resident_threads = kResidentThreads);
  ~GridRunner();
  GridRunner(const GridRunner&) = delete;
  GridRunner& operator=(const GridRunner&) = delete;

  // Runs `kernel` once for every thread of the grid and returns when all have returned. Writes of
  // earlier launches are visible to it, and its own to whoever learns of its end.
  // REQUIRES: dims.ctas >= 1 and 1 <= dims.threads <= 1024; otherwise std::invalid_argument.
  // An exception of a thread ends the grid and is thrown on; the other threads leave where they
  // wait. Throws std::logic_error when the threads of a CTA wait for each other for ever.
  void Run(const GridDims& dims, std::size_t shared_bytes, const Kernel& kernel);

  // While `*flag` is true every poll gives up. For tests, and for ending a run that hangs. The
  // flag outlives the runner.
  void GiveUpWhen(const std::atomic<bool>* flag) { give_up_ = flag; }

  // Each turn of a CTA is a step of these from now on. They outlive the runner.
  void Delay(LateStores* stores) { late_stores_ = stores; }

  // Where a thread was last seen polling in vain.
  const PollSite& last_poll() const { return last_poll_; }

  static constexpr int kResidentThreads = 1024;
  static constexpr int kMaxThreads = 1024;  // a CTA, as on a GPU

 private:
  friend class HostThread;

  void StartCta(HostThread::Cta& cta, int index, std::size_t shared_bytes);
  bool RunCta(HostThread::Cta& cta);
  bool GivesUp() const;
  bool WaitsInVain(const HostThread& thread) const;
  void Resume(HostThread& thread);
  void RunGrid(std::size_t shared_bytes);
  void Abandon();
  void ThreadReturned(HostThread& thread);
  static void ReleaseBarrier(HostThread::Cta& cta);
  static void ReleaseWarp(HostThread::Cta& cta, int warp);

  int resident_threads_;
  const std::atomic<bool>* give_up_ = nullptr;
  LateStores* late_stores_ = nullptr;
  PollSite last_poll_{};

  StackPool stacks_;
  std::vector<std::unique_ptr<HostThread::Cta>> ctas_;  // reused from launch to launch

  // The launch that runs.
  GridDims dims_;
  const Kernel* kernel_ = nullptr;
};

}  // namespace mailbench
