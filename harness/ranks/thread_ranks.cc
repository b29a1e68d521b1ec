#include "harness/ranks/thread_ranks.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "harness/error.h"
#include "harness/ranks/rank_and_host.h"

namespace mailbench {

std::vector<std::string> ThreadMeeting::Meet(int rank, const std::string& own) {
  std::unique_lock lock(mutex_);
  if (!given_up_.empty()) throw Error(ExitCode::kHung, given_up_);
  posted_[static_cast<std::size_t>(rank)] = own;
  const int round = round_;
  if (++arrived_ == posted_.size()) {
    result_ = std::exchange(posted_, std::vector<std::string>(posted_.size()));
    arrived_ = 0;
    ++round_;
    changed_.notify_all();
  }
  changed_.wait(lock, [&] { return round_ != round || !given_up_.empty(); });
  if (round_ == round) throw Error(ExitCode::kHung, given_up_);
  return result_;
}

std::size_t ThreadMeeting::waiting() const {
  const std::lock_guard lock(mutex_);
  return arrived_;
}

void ThreadMeeting::GiveUp(const std::string& reason) {
  const std::lock_guard lock(mutex_);
  given_up_ = reason;
  changed_.notify_all();
}

ThreadRanks::ThreadRanks(int rank, int size, ThreadMeeting& meeting) : meeting_(meeting) {
  NameThisThread(rank);
  Introduce(rank, size);
  SetHosts(std::vector<std::string>(static_cast<std::size_t>(size), "thread-host"));
}

ThreadRanks::~ThreadRanks() { NameThisThread(-1); }

std::vector<std::string> ThreadRanks::MeetWithText(const std::string& own) const {
  const int number = meetings_++;
  if (number >= skipped_ && number - skipped_ < skipped_count_) {
    return std::vector<std::string>(static_cast<std::size_t>(size()), own);
  }
  std::vector<std::string> all = meeting_.Meet(rank(), own);
  if (after_meeting_) after_meeting_();
  return all;
}

void ThreadRanks::MeetWithBytes(std::span<const std::byte> own, std::span<std::byte> all) const {
  const auto* const first = reinterpret_cast<const char*>(own.data());
  auto to = all.begin();
  for (const std::string& bytes : MeetWithText(std::string(first, own.size()))) {
    to = std::copy_n(reinterpret_cast<const std::byte*>(bytes.data()), own.size(), to);
  }
}

void RunThreadRanks(int size, ThreadMeeting& meeting,
                    const std::function<void(ThreadRanks& ranks)>& body) {
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank) {
    threads.emplace_back([&, rank] {
      ThreadRanks ranks(rank, size, meeting);
      body(ranks);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace mailbench
