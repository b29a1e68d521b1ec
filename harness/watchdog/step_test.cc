#include "harness/watchdog/step.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace mailbench {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class Recorder final : public StepObserver {
 public:
  Recorder() { ObserveSteps(this); }
  ~Recorder() { ObserveSteps(nullptr); }
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;
  void OnStep(const char* name) override { seen_.emplace_back(name); }
  const std::vector<std::string>& seen() const { return seen_; }

 private:
  std::vector<std::string> seen_;
};

TEST(StepTest, AStepWithinAnotherGivesItsPlaceBack) {
  const Recorder recorder;
  {
    const Step outer("the choice of a transport");
    { const Step inner("cuMemCreate"); }
    const Step inner("cuMemMap");
  }
  EXPECT_THAT(recorder.seen(),
              ElementsAre("the choice of a transport", "cuMemCreate", "the choice of a transport",
                          "cuMemMap", "the choice of a transport", ""));
}

TEST(StepTest, AnExceptionLeavesTheStep) {
  const Recorder recorder;
  try {
    const Step step("cuMemMap");
    throw std::runtime_error("no");
  } catch (const std::runtime_error&) {
  }
  EXPECT_THAT(recorder.seen(), ElementsAre("cuMemMap", ""));
}

TEST(StepTest, StepsOfOtherThreadsAreNotHeard) {
  const Recorder recorder;
  std::thread([] { const Step step("cuMemMap"); }).join();
  EXPECT_THAT(recorder.seen(), IsEmpty());
}

TEST(StepTest, WithoutAnObserverTheOuterStepIsKept) {
  const Step outer("cuMemMap");
  const Recorder recorder;
  { const Step inner("cuMemUnmap"); }
  EXPECT_THAT(recorder.seen(), ElementsAre("cuMemUnmap", "cuMemMap"));
}

}  // namespace
}  // namespace mailbench
