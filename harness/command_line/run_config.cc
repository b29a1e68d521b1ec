#include "harness/command_line/run_config.h"

namespace mailbench {

const char* ToString(Mode mode) {
  switch (mode) {
    case Mode::kGraph:
      return "graph";
    case Mode::kIsolated:
      return "isolated";
    case Mode::kEager:
      return "eager";
  }
  return "unknown";
}

const char* ToString(L2State state) {
  switch (state) {
    case L2State::kHot:
      return "hot";
    case L2State::kCold:
      return "cold";
  }
  return "unknown";
}

}  // namespace mailbench
