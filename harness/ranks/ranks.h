// The ranks of a run: who they are, and what they agree on. All communication of the harness that
// is not a measured collective goes through here.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "harness/error.h"

namespace mailbench {

// One rank's view of all. MpiRanks are processes; a test may have threads instead.
class Ranks {
 public:
  virtual ~Ranks() = default;
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  const std::vector<std::string>& hosts() const { return hosts_; }  // host name by rank
  bool one_host() const;
  // For what speaks MPI itself; MPI_COMM_NULL where ranks are no processes of MPI.
  virtual MPI_Comm comm() const { return MPI_COMM_NULL; }

  // `observer` is called before each function below waits for the other ranks.
  void OnMeeting(std::function<void()> observer) { on_meeting_ = std::move(observer); }

  // Every function below is collective: all ranks call it, and all return the same.
  void Barrier() const;
  double Max(double value) const;
  std::vector<double> Gather(double value) const;                  // by rank, on every rank
  std::vector<std::string> Gather(const std::string& text) const;  // by rank, on every rank

  // all[size()][own.size()], by rank. REQUIRES: as many words on every rank, below 2^29.
  void GatherWords(std::span<const std::uint32_t> own, std::span<std::uint32_t> all) const;

  // A vote after a step that can fail: `error` is "" where it worked, and `code` then counts for
  // nothing. When any rank failed, throws on every rank alike: the typed error of the worst code
  // (see Worse) with the text of the lowest rank that failed with it, "rank 2: ..." or, where the
  // hosts differ, "rank 2 on HOST: ...". A text that all ranks share stands alone. kPassed with a
  // text counts as kFailed.
  void Vote(ExitCode code, const std::string& error) const;

 protected:
  Ranks() = default;
  void Introduce(int rank, int size) {
    rank_ = rank;
    size_ = size;
  }
  void SetHosts(std::vector<std::string> hosts) { hosts_ = std::move(hosts); }

 private:
  // What the functions above are made of, each collective.
  virtual void Meet() const = 0;
  // all[size()][own.size()], by rank; as many bytes on every rank.
  virtual void MeetWithBytes(std::span<const std::byte> own, std::span<std::byte> all) const = 0;
  virtual std::vector<std::string> MeetWithText(const std::string& own) const = 0;

  void Announce() const {
    if (on_meeting_) on_meeting_();
  }

  int rank_ = 0;
  int size_ = 1;
  std::vector<std::string> hosts_;
  std::function<void()> on_meeting_;
};

}  // namespace mailbench
