#include "kernels/lamport/models.h"

#include "kernels/lamport/gather_threads.h"
#include "kernels/lamport/gather_world.h"

namespace mailbench {

std::vector<Model> LamportModels() {
  constexpr Publish kFenced = Publish::kMulticastAliasFence;
  return {
      GatherModel("lamport", "the Lamport all-gather", &LamportThread<>),
      GatherModel("overlapped", "arrivals counted, relaxed, while the packs are on their way",
                  &OverlappedThread<>),
      GatherModel("overlapped-acq-rel", "the same with acquire and release",
                  &OverlappedThread<Faithful, Arrival::kAcqRel>),
      GatherModel("overlapped-after-publish", "the next grid is permitted after the publish",
                  &OverlappedThread<Faithful, Arrival::kRelaxed, Trigger::kAfterPublish>),
      GatherModel("lamport-alias-fence", "lamport with fence.proxy.alias after the publish",
                  &LamportThread<Faithful, kFenced>),
      GatherModel("overlapped-alias-fence", "overlapped with the same",
                  &OverlappedThread<Faithful, Arrival::kRelaxed, Trigger::kAfterWait, kFenced>),
  };
}

}  // namespace mailbench
