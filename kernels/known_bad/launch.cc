#include "kernels/known_bad/launch.h"

#include <limits>
#include <stdexcept>

namespace mailbench {

AllGatherPlan PlanMnnvl(std::int64_t packs) {
  constexpr std::int64_t kMostPacks =
      static_cast<std::int64_t>(std::numeric_limits<int>::max()) * kMnnvlThreads;
  if (packs < 1 || packs > kMostPacks) {
    throw std::invalid_argument("an all-gather of " + std::to_string(packs) + " packs a rank");
  }
  AllGatherPlan plan;
  plan.ctas = static_cast<int>((packs + kMnnvlThreads - 1) / kMnnvlThreads);
  plan.threads = kMnnvlThreads;
  plan.poll_batch = 1;
  return plan;
}

std::string MnnvlRefusal(const AllGatherPlan& plan, const CoResidency& gpu) {
  if (gpu.ranks_per_gpu > 1) return CoResidencyRefusal(plan, gpu);
  const std::int64_t held = std::int64_t{gpu.multiprocessors} * gpu.ctas_per_multiprocessor;
  if (plan.ctas <= held) return "";
  return "a grid of " + std::to_string(plan.ctas) + " CTAs, and the GPU holds " +
         std::to_string(gpu.multiprocessors) + " x " + std::to_string(gpu.ctas_per_multiprocessor) +
         " = " + std::to_string(held) + ": its first CTA waits for all of them in its place";
}

}  // namespace mailbench
