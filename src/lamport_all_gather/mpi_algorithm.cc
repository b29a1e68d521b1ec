#include <mpi.h>

#include <cstdint>
#include <memory>

#include "harness/launch/executor.h"
#include "harness/ranks/mpi_error.h"
#include "harness/ranks/ranks.h"
#include "kernels/machine/host/stream.h"
#include "src/lamport_all_gather/algorithms.h"
#include "src/lamport_all_gather/gather_buffers.h"

namespace mailbench {
namespace {

std::uint32_t Unchanged(std::uint32_t word) { return word; }

class Mpi : public GatherBuffers {
 public:
  explicit Mpi(const InstanceContext& context)
      : GatherBuffers(context, Unchanged), stream_(*context.executor.host_stream()) {
    MAILBENCH_MPI(MPI_Comm_dup(ranks().comm(), &comm_));
  }

  void Bind(const Shape& shape, int slots) override {
    FreeRows();
    GatherBuffers::Bind(shape, slots);
    const GatherInput rows = input(0);
    MAILBENCH_MPI(MPI_Type_vector(static_cast<int>(rows.rows), static_cast<int>(rows.row_bytes),
                                  static_cast<int>(rows.row_stride), MPI_BYTE, &rows_));
    MAILBENCH_MPI(MPI_Type_commit(&rows_));
  }

  void Enqueue(int slot) override {
    const GatherInput from = input(slot);
    Pack* to = output(slot);
    stream_.Launch([this, from, to](GridRunner&) {
      if (from.rows == 1) {
        const int bytes = static_cast<int>(from.row_bytes);
        MAILBENCH_MPI(MPI_Allgather(from.data, bytes, MPI_BYTE, to, bytes, MPI_BYTE, comm_));
      } else {
        const int bytes = static_cast<int>(from.bytes());
        MAILBENCH_MPI(MPI_Allgather(from.data, 1, rows_, to, bytes, MPI_BYTE, comm_));
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
    if (rows_ != MPI_DATATYPE_NULL) MPI_Type_free(&rows_);
  }

  HostStream& stream_;
  MPI_Comm comm_ = MPI_COMM_NULL;          // the measured calls have one of their own
  MPI_Datatype rows_ = MPI_DATATYPE_NULL;  // the rows of an input that is not contiguous
};

}  // namespace

std::unique_ptr<Instance> MakeMpi(const InstanceContext& context) {
  return std::make_unique<Mpi>(context);
}

}  // namespace mailbench
