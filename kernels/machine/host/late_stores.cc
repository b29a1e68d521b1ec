#include "kernels/machine/host/late_stores.h"

#include <algorithm>
#include <atomic>

namespace mailbench {
namespace {

// Of so many packs one has a word that is late by up to kMostSteps, not kFewSteps. Rare enough that
// runs, which wait for nearly every such word, do not get much slower.
constexpr std::uint64_t kOneInSoMany = 256;
constexpr int kLatestBits = 16;

constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15u;

// The finaliser of SplitMix64 (Steele, Lea, Flood 2014).
std::uint64_t Mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

void Land(std::uint32_t* to, std::uint32_t value) {
  std::atomic_ref<std::uint32_t>(*to).store(value, std::memory_order_relaxed);
}

}  // namespace

// Seeds that differ by little begin far apart.
LateStores::LateStores(std::uint64_t seed)
    : generator_(Mix(seed + kGolden)), latest_(std::size_t{1} << kLatestBits, 0) {}

std::uint64_t LateStores::Draw() { return Mix(generator_ += kGolden); }

// Addresses share entries: a word then also waits for one of another address, which does no harm.
std::uint64_t& LateStores::LatestNear(const std::uint32_t* word) {
  const auto index = reinterpret_cast<std::uintptr_t>(word) / sizeof(*word);
  return latest_[(index * kGolden) >> (64 - kLatestBits)];
}

void LateStores::Store(Pack* to, const Pack& pack) {
  std::uint64_t draw = Draw();
  // The next number below `count`.
  const auto pick = [&](std::uint64_t count) {
    const std::uint64_t picked = draw % count;
    draw /= count;
    return picked;
  };
  const bool has_straggler = pick(kOneInSoMany) == 0;
  const std::uint64_t straggler = pick(kPackWords);
  const std::uint64_t very_late = pick(kMostSteps + 1);
  for (std::uint64_t i = 0; i < kPackWords; ++i) {
    const std::uint64_t a_little = pick(kFewSteps + 1);
    const std::uint64_t late = has_straggler && i == straggler ? very_late : a_little;
    std::uint32_t* const word = &to->word[i];
    std::uint64_t& latest = LatestNear(word);
    latest = std::max(latest, now_ + late);
    if (latest == now_) {
      Land(word, pack.word[i]);
      continue;
    }
    by_step_[latest % by_step_.size()].push_back({word, pack.word[i]});
    ++on_their_way_;
  }
}

void LateStores::LandDue() {
  std::vector<Word>& due = by_step_[now_ % by_step_.size()];
  for (const Word& word : due) Land(word.to, word.value);
  on_their_way_ -= due.size();
  due.clear();
}

void LateStores::LandAll() {
  while (on_their_way_ > 0) Step();
}

}  // namespace mailbench
