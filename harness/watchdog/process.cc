#include "harness/watchdog/process.h"

#include <signal.h>
#include <sys/stat.h>

#include <cerrno>
#include <fstream>
#include <string>

namespace mailbench {

namespace {

// As proc(5) names it; 0 when the process has ended just now, or /proc is not there.
char StateOf(std::int32_t pid) {
  // The state is the field after the name, which stands in parentheses and may itself hold any
  // character.
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string stat;
  std::getline(file, stat, '\0');
  const std::size_t name_end = stat.rfind(") ");
  if (name_end == std::string::npos || name_end + 2 >= stat.size()) return 0;
  return stat[name_end + 2];
}

}  // namespace

bool ProcessIsAlive(std::int32_t pid) {
  if (kill(pid, 0) != 0 && errno == ESRCH) {
    return false;
  }
  const char state = StateOf(pid);
  if (state == 0) {
    return kill(pid, 0) == 0 || errno != ESRCH;
  }
  return state != 'Z' && state != 'X';
}

bool ProcessIsStopped(std::int32_t pid) {
  const char state = StateOf(pid);
  return state == 'T' || state == 't';
}

std::uint64_t OwnPidNamespace() {
  static const std::uint64_t own = [] {
    struct stat facts {};
    return stat("/proc/self/ns/pid", &facts) == 0 ? std::uint64_t{facts.st_ino} : 0;
  }();
  return own;
}

}  // namespace mailbench
