#include "harness/memory/symmetric_memory.h"

namespace mailbench {

MulticastPack* OffsetMulticast(MulticastPack* multicast, std::size_t bytes) {
  return reinterpret_cast<MulticastPack*>(reinterpret_cast<std::byte*>(multicast) + bytes);
}

SymmetricView SymmetricRegion::Part(std::size_t offset, std::size_t bytes) const {
  SymmetricView part = view();
  part.bytes = bytes;
  for (std::byte*& peer : part.peers) peer += offset;
  if (part.multicast != nullptr) part.multicast = OffsetMulticast(part.multicast, offset);
  return part;
}

}  // namespace mailbench
