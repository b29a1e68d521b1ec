// Multicast on the host machine: every store becomes one copy a rank, the own one included, torn
// into 4-byte words of which each lands when it likes (M1, M2 and A3 of PROTOCOLS.md).
//
// A word's lateness is counted in steps, the turns that the scheduler gives to CTAs of this
// process. Most words land within a few; some take so many that the kernel has ended by then, and
// they land in a later launch of the stream. A grid that polls in vain takes steps, too, and
// whatever is left lands when the stream goes idle: nobody waits for a process that does nothing.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "kernels/machine/pack.h"

namespace mailbench {

// The words of one process that are on their way. The same for a seed and a sequence of stores and
// steps. Used by one operating-system thread.
class LateStores {
 public:
  explicit LateStores(std::uint64_t seed);

  // Four words, each with a lateness of its own. Words of one address land in the order of their
  // stores.
  void Store(Pack* to, const Pack& pack);

  // Lands the words whose time has come.
  void Step() {
    ++now_;
    if (on_their_way_ > 0) LandDue();
  }
  void LandAll();

  std::size_t on_their_way() const { return on_their_way_; }

  static constexpr std::uint64_t kFewSteps = 3;
  static constexpr std::uint64_t kMostSteps = 255;

 private:
  struct Word {
    std::uint32_t* to;
    std::uint32_t value;
  };

  std::uint64_t Draw();
  std::uint64_t& LatestNear(const std::uint32_t* word);
  void LandDue();

  std::uint64_t generator_;
  std::uint64_t now_ = 0;
  std::size_t on_their_way_ = 0;
  std::array<std::vector<Word>, kMostSteps + 1> by_step_;  // of landing, modulo their number
  // By address, hashed: the latest step at which a word stored there lands.
  std::vector<std::uint64_t> latest_;
};

// What a multicast address stands for on the host machine: the shares of all ranks, as mapped here.
class HostMulticast {
 public:
  // `words` outlives the object, and the shares outlive the words on their way to them.
  HostMulticast(std::vector<Pack*> shares, LateStores& words)
      : shares_(std::move(shares)), words_(&words) {}

  MulticastPack* address() { return reinterpret_cast<MulticastPack*>(this); }
  // REQUIRES: `address` is that of a HostMulticast.
  static HostMulticast& At(MulticastPack* address) {
    return *reinterpret_cast<HostMulticast*>(address);
  }

  void Store(std::int64_t pack, const Pack& value) {
    for (Pack* share : shares_) words_->Store(share + pack, value);
  }

 private:
  std::vector<Pack*> shares_;
  LateStores* words_;
};

}  // namespace mailbench
