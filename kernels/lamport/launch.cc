#include "kernels/lamport/launch.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "kernels/lamport/layout.h"

namespace mailbench {
namespace {

// More values in registers than this spill; the sources beyond it are collected batch by batch.
constexpr int kLargestBatch = 8;

}  // namespace

bool AcceptsBytes(std::int64_t bytes, std::int64_t capacity_bytes) {
  return bytes > 0 && bytes <= capacity_bytes && bytes % kPackBytes == 0;
}

AllGatherPlan PlanAllGather(std::int64_t packs, int ranks) {
  constexpr std::int64_t kMostPacks =
      static_cast<std::int64_t>(std::numeric_limits<int>::max()) * kGatherThreads;
  if (packs < 1 || packs > kMostPacks || ranks < 1 || ranks > kMaxRanks) {
    throw std::invalid_argument("an all-gather of " + std::to_string(packs) + " packs a rank on " +
                                std::to_string(ranks) + " ranks");
  }
  AllGatherPlan plan;
  plan.ctas = static_cast<int>((packs + kGatherThreads - 1) / kGatherThreads);
  plan.poll_batch = 1;
  while (plan.poll_batch < std::min(ranks, kLargestBatch)) plan.poll_batch *= 2;
  return plan;
}

std::string CoResidencyRefusal(const AllGatherPlan& plan, const CoResidency& gpu) {
  constexpr int kGridsARank = 2;
  const std::int64_t needed = std::int64_t{gpu.ranks_per_gpu} * kGridsARank * plan.ctas;
  const std::int64_t places = std::int64_t{gpu.multiprocessors} * gpu.ctas_per_multiprocessor;
  const std::int64_t held = gpu.beside_others ? places - places / 8 : places;
  if (gpu.ranks_per_gpu <= 1 || needed <= held) return "";
  return std::to_string(gpu.ranks_per_gpu) + " ranks on one GPU x " + std::to_string(kGridsARank) +
         " grids (a call and its dependent) x " + std::to_string(plan.ctas) +
         " CTAs = " + std::to_string(needed) + " CTAs, and the GPU holds " +
         std::to_string(gpu.multiprocessors) + " x " + std::to_string(gpu.ctas_per_multiprocessor) +
         (gpu.beside_others ? ", less an eighth for the kernels that check," : "") + " = " +
         std::to_string(held) + ": they would wait for each other for ever";
}

std::string ToString(const AllGatherPlan& plan) {
  return std::to_string(plan.ctas) + " CTAs x " + std::to_string(plan.threads) +
         " threads, poll batch " + std::to_string(plan.poll_batch);
}

}  // namespace mailbench
