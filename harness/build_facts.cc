#include "harness/build_facts.h"

#include "mailbench_git_hash.h"

namespace mailbench {
namespace {

std::string Compiler() {
#if defined(__clang__)
  return "clang++ " + std::to_string(__clang_major__) + "." + std::to_string(__clang_minor__) +
         "." + std::to_string(__clang_patchlevel__);
#else
  return "g++ " + std::to_string(__GNUC__) + "." + std::to_string(__GNUC_MINOR__) + "." +
         std::to_string(__GNUC_PATCHLEVEL__);
#endif
}

}  // namespace

BuildFacts Build() {
  return {MAILBENCH_VERSION, MAILBENCH_GIT_HASH, Compiler(), MAILBENCH_CUDA_VERSION};
}

}  // namespace mailbench
