// For tests: ranks that are threads of one process, so that what is collective can be swept
// through hundreds of faults in seconds.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "harness/ranks/ranks.h"

namespace mailbench {

// Where the threads meet.
class ThreadMeeting {
 public:
  explicit ThreadMeeting(int ranks) : posted_(static_cast<std::size_t>(ranks)) {}

  // What every rank brought, by rank. Throws Error (kHung) with the reason once GiveUp was called.
  std::vector<std::string> Meet(int rank, const std::string& own);
  // How many ranks wait here for the others now.
  std::size_t waiting() const;
  // For whoever watches: nobody waits from now on.
  void GiveUp(const std::string& reason);

 private:
  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::vector<std::string> posted_;
  std::vector<std::string> result_;  // of the last round
  std::size_t arrived_ = 0;
  int round_ = 0;
  std::string given_up_;
};

class ThreadRanks : public Ranks {
 public:
  // All on host "thread-host", unless SetHosts says otherwise. `meeting` outlives it. Messages
  // of this thread name `rank`.
  ThreadRanks(int rank, int size, ThreadMeeting& meeting);
  ~ThreadRanks() override;
  using Ranks::SetHosts;

  // The `number`th time, from 0, that this rank is to meet the others, and so on `count` times, it
  // goes on at once instead, as if it had met only itself. For tests that leave a vote or a barrier
  // out.
  void SkipMeeting(int number, int count = 1) {
    skipped_ = number;
    skipped_count_ = count;
  }
  int meetings() const { return meetings_; }
  // `observer` is called after each time that this rank has met the others.
  void AfterMeeting(std::function<void()> observer) { after_meeting_ = std::move(observer); }

 private:
  void Meet() const override { MeetWithText(""); }
  void MeetWithBytes(std::span<const std::byte> own, std::span<std::byte> all) const override;
  std::vector<std::string> MeetWithText(const std::string& own) const override;

  ThreadMeeting& meeting_;
  int skipped_ = 0;
  int skipped_count_ = 0;
  std::function<void()> after_meeting_;
  mutable int meetings_ = 0;
};

// `body` on `size` threads, each with ranks of its own; returns when all have returned.
void RunThreadRanks(int size, ThreadMeeting& meeting,
                    const std::function<void(ThreadRanks& ranks)>& body);

}  // namespace mailbench
