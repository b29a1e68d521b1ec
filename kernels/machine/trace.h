// Where the time of a call goes: what a traced machine (gpu/traced_gpu_machine.h,
// host/traced_host_machine.h) writes down when a protocol says `mark`. The machines that are timed
// have a `mark` that does nothing.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/machine/annotations.h"

namespace mailbench {

// What a thread has just done.
enum class TraceEvent {
  kStart,      // passed the wait for earlier grids
  kPublished,  // issued all stores of its pack
  kLook,       // polled a batch of sources once; `source` is the batch's first
  kArrived,    // saw the pack of `source` whole in that look; once more in later looks counts not
  kDone,       // issued its last store
};

// times[3 + sources][threads] of one call, nanoseconds of the machine's clock; 0: not marked. A
// thread of the grid stores into its own column only, so that a warp's stores are one.
struct TraceView {
  std::uint64_t* times = nullptr;
  std::int64_t threads = 0;  // of the grid

  // Set in a time of kArrived when the thread had looked before in vain: the source was waited for.
  static constexpr std::uint64_t kAwaited = std::uint64_t{1} << 63;

  MAILBENCH_HOST_DEVICE static int RowOf(TraceEvent event, int source) {
    if (event == TraceEvent::kStart) return 0;
    if (event == TraceEvent::kPublished) return 1;
    if (event == TraceEvent::kDone) return 2;
    return 3 + source;
  }
  MAILBENCH_HOST_DEVICE std::uint64_t* At(TraceEvent event, int source, std::int64_t thread) const {
    return times + RowOf(event, source) * threads + thread;
  }
  static std::int64_t Words(int sources, std::int64_t threads) { return (3 + sources) * threads; }
};

// What a thread has to remember between its looks. All sources of one look get the same time, since
// none of them was seen before another.
class TraceLooks {
 public:
  MAILBENCH_HOST_DEVICE void Look(int batch) {
    again_ = batch == batch_;
    batch_ = batch;
    now_ = 0;
  }
  // Whether the source is new. REQUIRES: 0 <= source < 128.
  MAILBENCH_HOST_DEVICE bool Add(int source) {
    const std::uint64_t bit = std::uint64_t{1} << (source & 63);
    const bool known = ((source < 64 ? low_ : high_) & bit) != 0;
    if (source < 64) {
      low_ |= bit;
    } else {
      high_ |= bit;
    }
    return !known;
  }
  // The time of kArrived. `clock` is read at the first source of a look, not at the look: a
  // processor may read it before what was polled has come back, unless it depends on that.
  template <class Clock>
  MAILBENCH_HOST_DEVICE std::uint64_t Time(Clock&& clock) {
    if (now_ == 0) now_ = clock();
    return again_ ? now_ | TraceView::kAwaited : now_;
  }

 private:
  int batch_ = -1;
  bool again_ = false;  // the batch had been looked at before
  std::uint64_t now_ = 0;
  std::uint64_t low_ = 0;  // sources that have arrived
  std::uint64_t high_ = 0;
};

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
