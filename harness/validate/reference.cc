#include "harness/validate/reference.h"

#include "harness/ranks/ranks.h"

namespace mailbench {

void MpiReference::AllGather(std::span<const std::uint32_t> own, std::span<std::uint32_t> all) {
  ranks_.GatherWords(own, all);
}

}  // namespace mailbench
