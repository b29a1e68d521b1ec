// Work that must not hold up its caller: done on a thread of its own, for so long.
#pragma once

#include <chrono>
#include <functional>

namespace mailbench {

// Runs `work` and returns whether it came back within `limit`, without an exception. Work that did
// not is left behind, and may still run: it owns what it uses, or uses what lasts as long as the
// process. False, too, when the system gives no thread; the work is not done then.
bool RunWithin(std::chrono::milliseconds limit, std::function<void()> work);

}  // namespace mailbench
