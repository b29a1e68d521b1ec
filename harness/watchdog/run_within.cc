#include "harness/watchdog/run_within.h"

#include <future>
#include <memory>
#include <system_error>
#include <thread>
#include <utility>

namespace mailbench {

bool RunWithin(std::chrono::milliseconds limit, std::function<void()> work) {
  const auto went_well = std::make_shared<std::promise<bool>>();
  std::future<bool> result = went_well->get_future();
  try {
    std::thread([went_well, work = std::move(work)] {
      bool returned = false;
      try {
        work();
        returned = true;
      } catch (...) {  // the caller only hears that it did not go well
      }
      went_well->set_value(returned);
    }).detach();
  } catch (const std::system_error&) {
    return false;
  }
  return result.wait_for(limit) == std::future_status::ready && result.get();
}

}  // namespace mailbench
