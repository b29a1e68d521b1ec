#include <mpi.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "harness/launch/executor.h"
#include "harness/ranks/mpi_error.h"
#include "harness/ranks/ranks.h"
#include "kernels/machine/host/stream.h"
#include "src/lamport_all_gather/algorithms.h"
#include "src/lamport_all_gather/gather_buffers.h"

namespace mailbench {
namespace {

class Mpi : public GatherBuffers {
 public:
  explicit Mpi(const InstanceContext& context)
      : GatherBuffers(context), stream_(*context.executor.host_stream()) {
    MAILBENCH_MPI(MPI_Comm_dup(ranks().comm(), &comm_));
  }

  void Bind(std::span<const Shape> shapes) override {
    FreeRows();
    GatherBuffers::Bind(shapes);
    for (std::size_t slot = 0; slot < shapes.size(); ++slot) {
      const GatherInput from = input(static_cast<int>(slot));
      MAILBENCH_MPI(MPI_Type_vector(static_cast<int>(from.rows), static_cast<int>(from.row_bytes),
                                    static_cast<int>(from.row_stride), MPI_BYTE,
                                    &rows_.emplace_back(MPI_DATATYPE_NULL)));
      MAILBENCH_MPI(MPI_Type_commit(&rows_.back()));
    }
  }

  void Enqueue(int slot) override {
    const GatherInput from = input(slot);
    Pack* to = output(slot);
    const MPI_Datatype rows = rows_[static_cast<std::size_t>(slot)];
    stream_.Launch([this, from, to, rows](GridRunner&) {
      if (from.rows == 1) {
        const int bytes = static_cast<int>(from.row_bytes);
        MAILBENCH_MPI(MPI_Allgather(from.data, bytes, MPI_BYTE, to, bytes, MPI_BYTE, comm_));
      } else {
        const int bytes = static_cast<int>(from.bytes());
        MAILBENCH_MPI(MPI_Allgather(from.data, 1, rows, to, bytes, MPI_BYTE, comm_));
      }
    });
  }

  void Free() override {
    GatherBuffers::Free();
    FreeRows();
    MAILBENCH_MPI(MPI_Comm_free(&comm_));
  }

 private:
  void FreeRows() {
    for (MPI_Datatype& rows : rows_) MPI_Type_free(&rows);
    rows_.clear();
  }

  HostStream& stream_;
  MPI_Comm comm_ = MPI_COMM_NULL;   // the measured calls have one of their own
  std::vector<MPI_Datatype> rows_;  // by slot: the rows of an input that is not contiguous
};

}  // namespace

std::unique_ptr<Instance> MakeMpi(const InstanceContext& context) {
  return std::make_unique<Mpi>(context);
}

}  // namespace mailbench
