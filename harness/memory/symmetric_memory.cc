#include "harness/memory/symmetric_memory.h"

namespace mailbench {

SymmetricView SymmetricRegion::Part(std::size_t offset, std::size_t bytes) const {
  SymmetricView part = view();
  part.bytes = bytes;
  for (std::byte*& peer : part.peers) peer += offset;
  if (part.multicast != nullptr) part.multicast += offset;
  return part;
}

}  // namespace mailbench
