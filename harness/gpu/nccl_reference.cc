#include "harness/gpu/nccl_reference.h"

#include <string>
#include <vector>

#include "harness/error.h"
#include "harness/ranks/ranks.h"
#include "harness/ranks/vote_on.h"
#include "harness/validate/comparison.h"
#include "harness/watchdog/step.h"

namespace mailbench {

void NcclReference::AllGather(std::span<const std::uint32_t> own, std::span<std::uint32_t> all) {
  const Step step("NCCL's gather for the reference");
  const bool new_size = own.size() != words_;
  if (new_size) {
    send_.reset();  // gives the memory back before the new is taken
    receive_.reset();
    words_ = 0;
    VoteOn(comm_.ranks(), ExitCode::kMachine, [&] {
      send_ = executor_.Allocate(own.size_bytes());
      receive_ = executor_.Allocate(all.size_bytes());
    });
    words_ = own.size();
  }
  executor_.CopyIn(send_->data(), std::as_bytes(own));
  comm_.AllGather(send_->data(), receive_->data(), own.size_bytes(), executor_.stream());
  executor_.CopyOut(std::as_writable_bytes(all), receive_->data());
  if (new_size) RequireMpiAgrees(own, all);
}

void NcclReference::RequireMpiAgrees(std::span<const std::uint32_t> own,
                                     std::span<const std::uint32_t> all) {
  std::vector<std::uint32_t> expected(all.size());
  comm_.ranks().GatherWords(own, expected);
  const Comparison comparison = CompareWords(expected, all);
  std::string error;
  if (comparison.mismatches > 0) {
    error = "NCCL, the reference, gathered " + std::to_string(comparison.mismatches) + " of " +
            std::to_string(comparison.compared) + " words otherwise than MPI: the first is " +
            std::to_string(comparison.first);
  }
  comm_.ranks().Vote(ExitCode::kWrong, error);
}

}  // namespace mailbench
