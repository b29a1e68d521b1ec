#include "harness/command_line/run_config.h"

namespace mailbench {

const char* ToString(Mode mode) {
  switch (mode) {
    case Mode::kGraph:
      return "graph";
    case Mode::kEager:
      return "eager";
  }
  return "unknown";
}

}  // namespace mailbench
