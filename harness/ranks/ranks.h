// The ranks of a run: who they are, and what they agree on. All communication of the harness that
// is not a measured collective goes through here.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "harness/error.h"
#include "harness/ranks/launcher.h"

namespace mailbench {

// Owns MPI_COMM_WORLD's life and the communicators made from it. Errors of MPI come back as
// SystemError. Move-free: one a process.
class Ranks {
 public:
  // Starts MPI (MPI_THREAD_FUNNELED; only the calling thread may use it). Collective.
  // Throws SystemError when this MPI gives less than that; MachineError when the launcher started
  // several processes and this MPI sees one: the launcher belongs to another MPI.
  Ranks(int* argc, char*** argv);
  // Logs when Finalize was not called; communicates nothing.
  ~Ranks();
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  MPI_Comm comm() const { return comm_; }
  const std::vector<std::string>& hosts() const { return hosts_; }  // host name by rank
  bool one_host() const;

  // `observer` is called before each function below waits for the other ranks.
  void OnMeeting(std::function<void()> observer) { on_meeting_ = std::move(observer); }

  // Every function below is collective: all ranks call it, and all return the same.
  void Barrier() const;
  double Max(double value) const;
  std::vector<double> Gather(double value) const;                  // by rank, on every rank
  std::vector<std::string> Gather(const std::string& text) const;  // by rank, on every rank

  // all[size()][own.size()], by rank. REQUIRES: as many words on every rank, below 2^31.
  void GatherWords(std::span<const std::uint32_t> own, std::span<std::uint32_t> all) const;

  // A vote after a step that can fail: `error` is "" where it worked, and `code` then counts for
  // nothing. When any rank failed, throws on every rank alike: the typed error of the worst code
  // (see Worse) with the text of the lowest rank that failed with it, "rank 2: ..." or, where the
  // hosts differ, "rank 2 on HOST: ...". A text that all ranks share stands alone. kPassed with a
  // text counts as kFailed.
  void Vote(ExitCode code, const std::string& error) const;

  // Ends MPI. Collective. Nothing else may be called after it.
  void Finalize();

 private:
  void Meet() const;

  int rank_ = 0;
  int size_ = 1;
  MPI_Comm comm_ = MPI_COMM_NULL;
  std::vector<std::string> hosts_;
  bool finalized_ = false;
  std::function<void()> on_meeting_;
};

}  // namespace mailbench
