#include "harness/gpu/kernel_names.h"

#include <gtest/gtest.h>

namespace mailbench {
namespace {

TEST(KernelNameTest, LeavesOutTypesAndParameters) {
  EXPECT_EQ(KernelName("_Z30ncclSymkDevKernel_AllGather_LL21ncclSymkDevWorkArgs4K"),
            "ncclSymkDevKernel_AllGather_LL");
  // void ns::Gather<8, true>(ns::Args)
  EXPECT_EQ(KernelName("_ZN2ns6GatherILi8ELb1EEEvNS_4ArgsE"), "ns::Gather<8, true>");
  // ns::(anonymous namespace)::Empty()
  EXPECT_EQ(KernelName("_ZN2ns12_GLOBAL__N_15EmptyEv"), "ns::(anonymous namespace)::Empty");
  // A pointer to a function among the parameters: Call(void (*)(int), int)
  EXPECT_EQ(KernelName("_Z4CallPFviEi"), "Call");
}

TEST(KernelNameTest, PlainNamesStay) {
  EXPECT_EQ(KernelName("saxpy"), "saxpy");
  EXPECT_EQ(KernelName("f"), "f");
  EXPECT_EQ(KernelName(""), "");
  EXPECT_EQ(KernelName("_Zbroken"), "_Zbroken");
}

}  // namespace
}  // namespace mailbench
