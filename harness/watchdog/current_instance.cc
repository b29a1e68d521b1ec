#include "harness/watchdog/current_instance.h"

#include <utility>

namespace mailbench {

CurrentInstance::Scope::Scope(CurrentInstance* current, Describer describer) : current_(current) {
  current_->Set(std::move(describer));
}

CurrentInstance::Scope::~Scope() { current_->Set(nullptr); }

std::string CurrentInstance::Describe() {
  const std::lock_guard lock(mutex_);
  return describer_ ? describer_() : "";
}

void CurrentInstance::Set(Describer describer) {
  const std::lock_guard lock(mutex_);
  describer_ = std::move(describer);
}

}  // namespace mailbench
