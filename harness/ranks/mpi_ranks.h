// Ranks that are the processes of MPI_COMM_WORLD.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "harness/ranks/ranks.h"

namespace mailbench {

// Owns MPI_COMM_WORLD's life and the communicators made from it. Errors of MPI come back as
// SystemError. One a process.
class MpiRanks : public Ranks {
 public:
  // Starts MPI (MPI_THREAD_FUNNELED; only the calling thread may use it). Collective.
  // Throws SystemError when this MPI gives less than that; MachineError when the launcher started
  // several processes and this MPI sees one: the launcher belongs to another MPI.
  MpiRanks(int* argc, char*** argv);
  // Logs when Finalize was not called; communicates nothing.
  ~MpiRanks() override;

  MPI_Comm comm() const override { return comm_; }

  // Ends MPI. Collective. Nothing else may be called after it.
  void Finalize();

 private:
  void Meet() const override;
  void MeetWithBytes(std::span<const std::byte> own, std::span<std::byte> all) const override;
  std::vector<std::string> MeetWithText(const std::string& own) const override;

  MPI_Comm comm_ = MPI_COMM_NULL;
  bool finalized_ = false;
};

}  // namespace mailbench
