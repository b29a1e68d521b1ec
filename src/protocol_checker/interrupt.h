// Ctrl-C and the like during a search: the first is heard, so that the report is still written;
// another one, after half a second, ends the process.
#pragma once

#include <atomic>
#include <string>
#include <thread>

namespace mailbench {

class Interrupt {
 public:
  // Takes SIGINT, SIGTERM and SIGHUP from here on (BlockSignals: no other thread may exist yet),
  // and for as long as it lives.
  Interrupt();

  // Thread-safe.
  bool heard() const { return signal_ != 0; }
  // "received SIGINT". REQUIRES: heard.
  std::string Text() const;

 private:
  void Listen(const std::stop_token& stop);

  std::atomic<int> signal_ = 0;
  std::jthread listener_;  // last: it uses the rest
};

}  // namespace mailbench
