// What the launcher's environment says about this process, before MPI has started.
#pragma once

#include <string>

namespace mailbench {

struct LauncherFacts {
  bool launched = false;  // started by mpirun, srun or the like
  int rank = 0;
  int size = 1;              // 1 also when the launcher does not say
  std::string told_by = {};  // the variables that say so: "PMI_RANK=0 and PMI_SIZE=2"
};

// Reads, in this order: OMPI_COMM_WORLD_RANK and _SIZE (Open MPI), PMI_RANK and PMI_SIZE (MPICH,
// Intel MPI, srun --mpi=pmi2), MV2_COMM_WORLD_RANK and _SIZE (MVAPICH2), PMIX_RANK (any PMIx
// launcher; it gives no size), SLURM_PROCID with SLURM_STEP_NUM_TASKS or SLURM_NTASKS. Slurm's own
// count only inside a step that srun started (SLURM_STEP_ID): a batch script has SLURM_PROCID=0
// too, and is one process whatever SLURM_NTASKS says. What is not a rank of a size is passed over.
LauncherFacts ReadLauncherEnvironment();

// Of a process that is the only one that MPI sees: why it cannot be alone, with the variables that
// say so and the likely cause; "" where it may be.
std::string WhyNotAlone(const LauncherFacts& launcher);

}  // namespace mailbench
