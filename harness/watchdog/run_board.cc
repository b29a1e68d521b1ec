#include "harness/watchdog/run_board.h"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>

#include "harness/error.h"
#include "harness/ranks/mpi_error.h"

namespace mailbench {
namespace {

constexpr std::size_t kAlignment = alignof(HeartbeatSlot);
static_assert(alignof(ControlBlock) == kAlignment && sizeof(ControlBlock) % kAlignment == 0);

std::uint64_t BytesToAlignment(const void* base) {
  return (kAlignment - reinterpret_cast<std::uintptr_t>(base) % kAlignment) % kAlignment;
}

}  // namespace

RunBoard::RunBoard(const Ranks& ranks) {
  MAILBENCH_MPI(
      MPI_Comm_split_type(ranks.comm(), MPI_COMM_TYPE_SHARED, ranks.rank(), MPI_INFO_NULL, &comm_));
  MAILBENCH_MPI(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN));
  int own = 0;
  int count = 0;
  MAILBENCH_MPI(MPI_Comm_rank(comm_, &own));
  MAILBENCH_MPI(MPI_Comm_size(comm_, &count));
  view_.own = static_cast<std::size_t>(own);
  view_.ranks.resize(static_cast<std::size_t>(count));
  const int rank = ranks.rank();
  MAILBENCH_MPI(MPI_Allgather(&rank, 1, MPI_INT, view_.ranks.data(), 1, MPI_INT, comm_));

  // The first rank of the host gives all the memory. MPI promises no alignment of it (Open MPI's
  // base is 8 mod 128 with several ranks), so there is more of it than needed.
  const std::size_t slots = view_.ranks.size();
  const std::size_t bytes = sizeof(ControlBlock) + slots * sizeof(HeartbeatSlot) + kAlignment;
  std::byte* base = nullptr;
  MAILBENCH_MPI(MPI_Win_allocate_shared(own == 0 ? static_cast<MPI_Aint>(bytes) : 0, 1,
                                        MPI_INFO_NULL, comm_, static_cast<void*>(&base), &window_));
  MAILBENCH_MPI(MPI_Win_set_errhandler(window_, MPI_ERRORS_RETURN));
  MPI_Aint size = 0;
  int unit = 0;
  MAILBENCH_MPI(MPI_Win_shared_query(window_, 0, &size, &unit, static_cast<void*>(&base)));

  // Every process maps the memory elsewhere: all use the first one's offset.
  std::uint64_t offset = BytesToAlignment(base);
  MAILBENCH_MPI(MPI_Bcast(&offset, 1, MPI_UINT64_T, 0, comm_));
  ranks.Vote(ExitCode::kFailed, BytesToAlignment(base) == offset
                                    ? ""
                                    : "the ranks of this host map the board at addresses that "
                                      "differ in their last 7 bits");
  view_.control = reinterpret_cast<ControlBlock*>(base + offset);
  view_.slots = {reinterpret_cast<HeartbeatSlot*>(base + offset + sizeof(ControlBlock)), slots};

  if (own == 0) {
    ClearBoard(view_.control, view_.slots);
  }
  MAILBENCH_MPI(MPI_Barrier(comm_));
  Arrive(slot());
  MAILBENCH_MPI(MPI_Barrier(comm_));
}

RunBoard::~RunBoard() {
  if (window_ != MPI_WIN_NULL && std::uncaught_exceptions() == 0) {
    std::fprintf(stderr, "mailbench: rank %d leaves without having called RunBoard::Free\n",
                 view_.ranks[view_.own]);
  }
}

void RunBoard::Free() {
  MAILBENCH_MPI(MPI_Win_free(&window_));
  MAILBENCH_MPI(MPI_Comm_free(&comm_));
  view_.control = nullptr;
  view_.slots = {};
}

}  // namespace mailbench
