// The known-bad all-gathers by name: two generations of one public kernel, and the four ways to
// combine the two decisions that its fault needs.
#pragma once

#include <optional>
#include <string_view>

#include "kernels/known_bad/layout.h"

namespace mailbench {

// Where a call takes its rank's own packs from.
enum class SelfSlot {
  kRegister,  // the publishing thread still has them: the own copy in the mailbox is not awaited
  kPolled,    // the own copy, polled like any other's
};

// The ordering of the store that publishes.
enum class PublishStore { kRelaxed, kWeak };

// Which stage a call fills with sentinels.
enum class CleanedStage {
  kPrevious,  // that of the call before
  kNext,      // that of the call after
};

struct MnnvlNewer {
  static constexpr SelfSlot kSelf = SelfSlot::kRegister;
  static constexpr SlotStride kStride = SlotStride::kCall;
  static constexpr PublishStore kStore = PublishStore::kRelaxed;
  static constexpr CleanedStage kCleaned = CleanedStage::kPrevious;
};
struct MnnvlOlder : MnnvlNewer {
  static constexpr PublishStore kStore = PublishStore::kWeak;
  static constexpr CleanedStage kCleaned = CleanedStage::kNext;
};
struct MnnvlRegisterCapacity : MnnvlNewer {
  static constexpr SlotStride kStride = SlotStride::kCapacity;
};
struct MnnvlPolledCallStride : MnnvlNewer {
  static constexpr SelfSlot kSelf = SelfSlot::kPolled;
};
struct MnnvlPolledCapacity : MnnvlPolledCallStride {
  static constexpr SlotStride kStride = SlotStride::kCapacity;
};

enum class MnnvlVariant { kNewer, kOlder, kRegisterCapacity, kPolledCallStride, kPolledCapacity };

// Calls `use` with the variant's rules and returns what it returns.
template <class Use>
auto WithMnnvlRules(MnnvlVariant variant, Use use) {
  switch (variant) {
    case MnnvlVariant::kOlder:
      return use(MnnvlOlder{});
    case MnnvlVariant::kRegisterCapacity:
      return use(MnnvlRegisterCapacity{});
    case MnnvlVariant::kPolledCallStride:
      return use(MnnvlPolledCallStride{});
    case MnnvlVariant::kPolledCapacity:
      return use(MnnvlPolledCapacity{});
    case MnnvlVariant::kNewer:
      break;
  }
  return use(MnnvlNewer{});
}

struct MnnvlName {
  std::string_view name;
  std::string_view summary;
  MnnvlVariant variant;
};

// "mnnvl" and "mnnvl-register-callstride" are the same: the latter is its place in the ablation.
inline constexpr MnnvlName kMnnvlNames[] = {
    {"mnnvl", "a public kernel: own packs from registers, slots in strides of the call's size",
     MnnvlVariant::kNewer},
    {"mnnvl-older", "its earlier generation: weak multicast stores, and the next stage is cleaned",
     MnnvlVariant::kOlder},
    {"mnnvl-register-callstride", "ablation: own packs from registers, stride of the call (mnnvl)",
     MnnvlVariant::kNewer},
    {"mnnvl-register-capacity", "ablation: own packs from registers, stride of the capacity",
     MnnvlVariant::kRegisterCapacity},
    {"mnnvl-polled-callstride", "ablation: own packs polled, stride of the call",
     MnnvlVariant::kPolledCallStride},
    {"mnnvl-polled-capacity", "ablation: own packs polled, stride of the capacity",
     MnnvlVariant::kPolledCapacity},
};

constexpr std::optional<MnnvlVariant> MnnvlNamed(std::string_view name) {
  for (const MnnvlName& known : kMnnvlNames) {
    if (known.name == name) return known.variant;
  }
  return std::nullopt;
}

}  // namespace mailbench
