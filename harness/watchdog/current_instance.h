// What the main thread waits for just now, for the thread that ends the run: an instance of a
// collective can say it, but lives on the main thread.
#pragma once

#include <functional>
#include <mutex>
#include <string>

namespace mailbench {

class CurrentInstance {
 public:
  // Says what the instance waits for: lines without the last one's end, "" for nothing to say.
  // Called on another thread than the instance's while that one may be anywhere. May throw.
  using Describer = std::function<std::string()>;

  // Shows an instance for as long as it lives. Its destructor waits for a Describe that is under
  // way, so that an instance which outlives it is never looked at when it is gone; for good when
  // that Describe hangs, since the run ends then.
  class Scope {
   public:
    // REQUIRES: no other Scope of `current` lives; `current` outlives this one.
    Scope(CurrentInstance* current, Describer describer);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    CurrentInstance* current_;
  };

  // What the instance shown says, "" when none is. Throws what its describer throws.
  std::string Describe();

 private:
  void Set(Describer describer);

  std::mutex mutex_;
  Describer describer_;  // guarded by mutex_; empty: no instance is shown
};

}  // namespace mailbench
