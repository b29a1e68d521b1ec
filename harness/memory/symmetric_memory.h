// Symmetric memory: the same number of bytes on every rank, each rank's share reachable by all.
//
// Owning and viewing are told apart: a SymmetricRegion owns the mapping and is freed by all ranks
// together; a SymmetricView is a handful of pointers into it, passed by value.
#pragma once

#include <cstddef>
#include <vector>

namespace mailbench {

struct MulticastPack;  // kernels/machine/pack.h

// Every share starts on a line of its own.
inline constexpr std::size_t kSymmetricAlignment = 128;
inline constexpr std::size_t AlignSymmetric(std::size_t bytes) {
  return (bytes + kSymmetricAlignment - 1) / kSymmetricAlignment * kSymmetricAlignment;
}

struct SymmetricView {
  std::size_t bytes = 0;               // of one rank's share
  int rank = 0;                        // the rank that this view belongs to
  std::vector<std::byte*> peers;       // every rank's share as mapped here, the own one included
  MulticastPack* multicast = nullptr;  // all shares at once; null where the transport has none

  std::byte* local() const { return peers[static_cast<std::size_t>(rank)]; }
};

// The multicast address that lies `bytes` further on.
MulticastPack* OffsetMulticast(MulticastPack* multicast, std::size_t bytes);

class SymmetricRegion {
 public:
  // Communicates nothing. Logs when Free was not called: the memory then lives as long as the
  // process.
  virtual ~SymmetricRegion() = default;
  SymmetricRegion() = default;
  SymmetricRegion(const SymmetricRegion&) = delete;
  SymmetricRegion& operator=(const SymmetricRegion&) = delete;

  virtual const SymmetricView& view() const = 0;
  // The `bytes` of every share from `offset` on; gone with the region. REQUIRES: `offset` is a
  // multiple of kSymmetricAlignment, and the share has that much.
  virtual SymmetricView Part(std::size_t offset, std::size_t bytes) const;
  // Collective. REQUIRES: no rank uses a view any more. The region is empty afterwards.
  virtual void Free() = 0;
};

}  // namespace mailbench
