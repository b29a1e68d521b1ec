#include "kernels/machine/host/grid.h"

#include <sched.h>

#include <algorithm>
#include <stdexcept>
#include <string>

namespace mailbench {
namespace {

constexpr int kWarpLanes = 32;

}  // namespace

struct HostThread::Warp {
  int lanes = 0;
  int live = 0;
  int waiting = 0;
  // Two buffers: a lane may already give a value for the next operation while another has yet to
  // read those of this one. It cannot be two operations ahead.
  std::uint32_t values[2][kWarpLanes] = {};
};

struct HostThread::Cta {
  int index = -1;
  int live = 0;
  int at_barrier = 0;
  std::vector<HostThread> threads;
  std::vector<Warp> warps;
  struct alignas(std::max_align_t) Chunk {
    std::byte bytes[sizeof(std::max_align_t)];
  };
  std::vector<Chunk> shared;
};

int HostThread::cta_index() const { return cta_->index; }
const GridDims& HostThread::dims() const { return runner_->dims_; }
void* HostThread::shared() const { return cta_->shared.data(); }

void HostThread::Wait(State state) {
  state_ = state;
  fiber_.Suspend();
}

void HostThread::CtaBarrier() {
  if (++cta_->at_barrier == cta_->live) {
    GridRunner::ReleaseBarrier(*cta_);
  } else {
    Wait(State::kBarrier);
  }
}

const std::uint32_t* HostThread::WarpExchange(std::uint32_t value) {
  const int index = thread_index_ / kWarpLanes;
  Warp& warp = cta_->warps[static_cast<std::size_t>(index)];
  if (warp.live != warp.lanes) {
    throw std::logic_error("a warp operation of CTA " + std::to_string(cta_->index) +
                           " is missing a lane that has returned");
  }
  std::uint32_t* values = warp.values[warp_operations_++ % 2];
  values[thread_index_ % kWarpLanes] = value;
  if (++warp.waiting == warp.lanes) {
    GridRunner::ReleaseWarp(*cta_, index);
  } else {
    Wait(State::kWarp);
  }
  return values;
}

bool HostThread::PollAgain(const PollSite& site) {
  runner_->last_poll_ = site;
  if (runner_->GivesUp()) return false;
  site_ = site;
  Wait(State::kPolling);
  return true;
}

GridRunner::GridRunner(int resident_threads) : resident_threads_(resident_threads) {}
GridRunner::~GridRunner() = default;

void GridRunner::ReleaseBarrier(HostThread::Cta& cta) {
  cta.at_barrier = 0;
  for (HostThread& thread : cta.threads) {
    if (thread.state_ == HostThread::State::kBarrier) thread.state_ = HostThread::State::kReady;
  }
}

void GridRunner::ReleaseWarp(HostThread::Cta& cta, int warp) {
  cta.warps[static_cast<std::size_t>(warp)].waiting = 0;
  const auto first = cta.threads.begin() + static_cast<std::ptrdiff_t>(warp) * kWarpLanes;
  const auto last = std::min(first + kWarpLanes, cta.threads.end());
  for (auto thread = first; thread != last; ++thread) {
    if (thread->state_ == HostThread::State::kWarp) thread->state_ = HostThread::State::kReady;
  }
}

// A thread that has returned no longer keeps the others waiting.
void GridRunner::ThreadReturned(HostThread& thread) {
  HostThread::Cta& cta = *thread.cta_;
  thread.state_ = HostThread::State::kReturned;
  --cta.live;
  --cta.warps[static_cast<std::size_t>(thread.thread_index_ / kWarpLanes)].live;
  if (cta.live > 0 && cta.at_barrier == cta.live) ReleaseBarrier(cta);
}

void GridRunner::StartCta(HostThread::Cta& cta, int index, std::size_t shared_bytes) {
  const auto threads = static_cast<std::size_t>(dims_.threads);
  cta.index = index;
  cta.live = dims_.threads;
  cta.at_barrier = 0;
  cta.shared.assign(shared_bytes / sizeof(HostThread::Cta::Chunk) + 1, {});
  if (cta.threads.size() != threads) cta.threads = std::vector<HostThread>(threads);
  cta.warps.assign((threads + kWarpLanes - 1) / kWarpLanes, HostThread::Warp{});
  for (std::size_t i = 0; i < threads; ++i) {
    HostThread::Warp& warp = cta.warps[i / kWarpLanes];
    warp.live = ++warp.lanes;
    HostThread& thread = cta.threads[i];
    thread.runner_ = this;
    thread.cta_ = &cta;
    thread.thread_index_ = static_cast<int>(i);
    thread.warp_operations_ = 0;
    thread.state_ = HostThread::State::kReady;
  }
}

void GridRunner::Resume(HostThread& thread) {
  // Only now does it take a stack: threads that never wait share one, which the cache holds.
  if (thread.fiber_.done()) thread.fiber_.Start(stacks_, [this, &thread] { (*kernel_)(thread); });
  thread.fiber_.Resume();
  if (thread.fiber_.done()) ThreadReturned(thread);
}

bool GridRunner::GivesUp() const {
  return give_up_ != nullptr && give_up_->load(std::memory_order_relaxed);
}

bool GridRunner::WaitsInVain(const HostThread& thread) const {
  const std::atomic_ref<std::uint32_t> word(*const_cast<std::uint32_t*>(thread.site_.word));
  return word.load(std::memory_order_relaxed) == thread.site_.seen && !GivesUp();
}

// One turn for every thread of the CTA that can run. Returns whether there was any.
bool GridRunner::RunCta(HostThread::Cta& cta) {
  if (late_stores_ != nullptr) late_stores_->Step();
  bool progress = false;
  bool runnable = false;
  for (HostThread& thread : cta.threads) {
    const HostThread::State before = thread.state_;
    if (before != HostThread::State::kReady && before != HostThread::State::kPolling) continue;
    runnable = true;
    if (before == HostThread::State::kPolling && WaitsInVain(thread)) continue;
    progress = true;
    Resume(thread);
  }
  if (!runnable && cta.live > 0) {
    throw std::logic_error("the threads of CTA " + std::to_string(cta.index) +
                           " wait for each other: a barrier or warp operation that not all of them "
                           "reach");
  }
  return progress;
}

// Lets every thread that waits leave its kernel.
void GridRunner::Abandon() {
  for (auto& cta : ctas_) {
    for (HostThread& thread : cta->threads) thread.fiber_.Unwind();
    cta->live = 0;
  }
}

void GridRunner::RunGrid(std::size_t shared_bytes) {
  const int resident = std::min(dims_.ctas, std::max(1, resident_threads_ / dims_.threads));
  while (ctas_.size() < static_cast<std::size_t>(resident)) {
    ctas_.push_back(std::make_unique<HostThread::Cta>());
  }
  int next = 0;
  int running = 0;
  for (; next < resident; ++next, ++running) {
    StartCta(*ctas_[static_cast<std::size_t>(next)], next, shared_bytes);
  }
  while (running > 0) {
    bool progress = false;
    for (int place = 0; place < resident; ++place) {
      HostThread::Cta& cta = *ctas_[static_cast<std::size_t>(place)];
      if (cta.live == 0) continue;
      progress |= RunCta(cta);
      if (cta.live > 0) continue;
      if (next < dims_.ctas) {
        StartCta(cta, next++, shared_bytes);
      } else {
        --running;
      }
    }
    if (!progress) sched_yield();
  }
}

void GridRunner::Run(const GridDims& dims, std::size_t shared_bytes, const Kernel& kernel) {
  if (dims.ctas < 1 || dims.threads < 1 || dims.threads > kMaxThreads) {
    throw std::invalid_argument("a grid of " + std::to_string(dims.ctas) + " CTAs of " +
                                std::to_string(dims.threads) + " threads");
  }
  // The boundary between launches: what earlier ones wrote, here or on a rank whose words they
  // consumed, is visible to this one.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  dims_ = dims;
  kernel_ = &kernel;
  try {
    RunGrid(shared_bytes);
  } catch (...) {
    Abandon();
    throw;
  }
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

}  // namespace mailbench
