// Where the time of a call goes: what a traced machine (gpu/traced_gpu_machine.h,
// host/traced_host_machine.h) writes down at a protocol's marks. On the machines that are timed
// marks are nothing.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/machine/annotations.h"

namespace mailbench {

// What a thread has just done, besides looking at a batch of sources (mark_look).
enum class TraceEvent {
  kStart,      // passed the wait for earlier grids
  kPublished,  // issued all stores of its pack
  kDone,       // issued its last store
};

// times[events, then sources][threads] of one call, nanoseconds of the machine's clock; 0: not
// marked. A thread of the grid stores into its own column only, so that a warp's stores are one.
struct TraceView {
  std::uint64_t* times = nullptr;
  std::int64_t threads = 0;  // of the grid

  // Set in the time of an arrival when the thread had looked before in vain: it has waited for the
  // source.
  static constexpr std::uint64_t kAwaited = std::uint64_t{1} << 63;

  MAILBENCH_HOST_DEVICE std::uint64_t* At(TraceEvent event, std::int64_t thread) const {
    return times + static_cast<int>(event) * threads + thread;
  }
  MAILBENCH_HOST_DEVICE std::uint64_t* ArrivalOf(int source, std::int64_t thread) const {
    return times + (kEvents + source) * threads + thread;
  }
  static std::int64_t Words(int sources, std::int64_t threads) {
    return (kEvents + sources) * threads;
  }
  static std::int64_t Bytes(int sources, std::int64_t threads, int calls) {
    return calls * Words(sources, threads) * std::int64_t{sizeof(std::uint64_t)};
  }

  static constexpr int kEvents = 3;
  // A trace of more is not worth its memory.
  static constexpr std::int64_t kMostBytes = std::int64_t{256} << 20;
};

// What a thread has to remember between its looks at a batch of sources.
class TraceLooks {
 public:
  // `present`: bit i for source first + i. Returns those that no earlier look at the batch saw.
  MAILBENCH_HOST_DEVICE std::uint32_t New(int first, std::uint32_t present) {
    again_ = first == first_;
    if (!again_) seen_ = 0;
    first_ = first;
    const std::uint32_t fresh = present & ~seen_;
    seen_ |= present;
    return fresh;
  }
  // Whether the last look was not the first at its batch.
  MAILBENCH_HOST_DEVICE bool again() const { return again_; }

 private:
  int first_ = -1;
  bool again_ = false;
  std::uint32_t seen_ = 0;
};

// What a traced machine does in mark_look: `store(source, time)` for each source that is new. They
// get one time, since none was seen before another. `clock` is read behind the condition: a
// processor could read it before what was polled has come back, did it not depend on that.
template <class Clock, class Store>
MAILBENCH_HOST_DEVICE void MarkLook(TraceLooks& looks, int first, std::uint32_t present,
                                    Clock&& clock, Store&& store) {
  std::uint32_t fresh = looks.New(first, present);
  if (fresh == 0) return;
  std::uint64_t time = clock();
  if (looks.again()) time |= TraceView::kAwaited;
  for (int source = first; fresh != 0; ++source, fresh >>= 1) {
    if ((fresh & 1) != 0) store(source, time);
  }
}

// The marks of several threads, taken together.
struct TraceTimes {
  std::uint64_t start = 0;                 // of the first thread
  std::uint64_t published = 0;             // by the last thread; never after last_arrival()
  std::uint64_t first_arrival = 0;         // of any source at any thread
  std::uint64_t done = 0;                  // by the last thread
  std::vector<std::uint64_t> arrived;      // by source: at the last thread
  std::vector<std::uint64_t> awaited_for;  // the same of threads that waited for it; 0: none did

  std::uint64_t last_arrival() const;
  void Add(const TraceTimes& other);
};

// By CTA of `cta_threads` threads, from TraceView::times in host memory. Throws
// std::invalid_argument for a CTA without a start, a publish, an arrival of each source or an end.
std::vector<TraceTimes> ReadTrace(const std::uint64_t* times, int sources, int ctas,
                                  int cta_threads);

}  // namespace mailbench
