// Verifies the calls of a gather where they run.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "harness/launch/executor.h"
#include "harness/stress/call_verifier.h"
#include "kernels/stress/gather_check.h"

namespace mailbench {

// On a GPU. REQUIRES: executor.gpu().
void EnqueueFillOnGpu(Executor& executor, const CheckedBatch& batch);
void EnqueueCheckOnGpu(Executor& executor, const CheckedBatch& batch);

class GatherVerifier : public CallVerifier {
 public:
  using Origin = std::function<void(WrongWord* wrong)>;

  // `common`: what all batches have alike: seed, rank, ranks, rules. `calls`: by slot, in
  // memory of the executor. `batches`: of so many consecutive slots. Throws MachineError when
  // memory is short.
  GatherVerifier(Executor& executor, const CheckedBatch& common, std::span<const CheckedCall> calls,
                 std::span<const int> batches, Origin origin);

  void Plant(const PlantedFault& fault) override;
  void StartAt(std::uint64_t call) override;
  void EnqueueFill(int batch) override;
  void EnqueueVerify(int batch) override;
  Verdict Take() override;
  void FindOrigin(WrongWord* wrong) const override { origin_(wrong); }

 private:
  using OnGpu = void (*)(Executor& executor, const CheckedBatch& batch);
  using OnHost = void (*)(const CheckedBatch& batch);

  void Enqueue(int batch, OnGpu on_gpu, OnHost on_host);
  template <class T>
  const T* Keep(std::span<const T> values);

  Executor& executor_;
  Origin origin_;
  std::vector<std::unique_ptr<Buffer>> memory_;  // of what batches point to
  std::vector<CheckedBatch> batches_;
  CallLog* log_ = nullptr;
};

}  // namespace mailbench
