// Owns the board of this host's ranks: an MPI shared-memory window.
#pragma once

#include <mpi.h>

#include "harness/ranks/ranks.h"
#include "harness/watchdog/board_view.h"

namespace mailbench {

class RunBoard {
 public:
  // Collective. When it returns, every rank of this host has arrived. Throws SystemError.
  explicit RunBoard(const Ranks& ranks);
  // Logs when Free was not called; communicates nothing.
  ~RunBoard();
  RunBoard(const RunBoard&) = delete;
  RunBoard& operator=(const RunBoard&) = delete;

  // Valid until Free.
  const BoardView& view() const { return view_; }
  HeartbeatSlot* slot() const { return &view_.own_slot(); }

  // Collective: gives the window back. REQUIRES: no watchdog is attached to it any more.
  void Free();

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;  // the ranks of this host
  MPI_Win window_ = MPI_WIN_NULL;
  BoardView view_;
};

}  // namespace mailbench
