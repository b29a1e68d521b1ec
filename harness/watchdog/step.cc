#include "harness/watchdog/step.h"

#include <utility>

namespace mailbench {
namespace {

constinit thread_local StepObserver* own_observer = nullptr;
constinit thread_local const char* own_step = "";

void Tell() {
  if (own_observer != nullptr) own_observer->OnStep(own_step);
}

}  // namespace

void ObserveSteps(StepObserver* observer) { own_observer = observer; }

StepObserver* ObserverOfSteps() { return own_observer; }

Step::Step(const char* name) : outer_(std::exchange(own_step, name)) { Tell(); }

Step::~Step() {
  own_step = outer_;
  Tell();
}

}  // namespace mailbench
