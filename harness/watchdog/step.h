// What a thread does right now, where it may be stuck for good: names what stood still in a
// diagnosis. Nothing of it belongs on the measured path.
#pragma once

namespace mailbench {

class StepObserver {
 public:
  // The thread has come to `name`, or left what it did for that; "" is no step. Must not throw.
  virtual void OnStep(const char* name) = 0;

 protected:
  ~StepObserver() = default;
};

// From here on `observer` hears of the steps of this thread, instead of another; null: nobody does.
void ObserveSteps(StepObserver* observer);
StepObserver* ObserverOfSteps();

// Says for as long as it lives that its thread is in a step; one within it says so instead for its
// own time. Without an observer it costs next to nothing. Example: const Step step("cuMemMap").
class Step {
 public:
  // REQUIRES: `name` outlives this. What is beyond its first 47 characters is not shown.
  explicit Step(const char* name);
  ~Step();
  Step(const Step&) = delete;
  Step& operator=(const Step&) = delete;

 private:
  const char* outer_;
};

}  // namespace mailbench
