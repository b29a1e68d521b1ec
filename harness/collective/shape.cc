#include "harness/collective/shape.h"

namespace mailbench {

std::string ToString(const Shape& shape) {
  std::string text;
  for (const auto& [name, value] : shape.variables) {
    if (!text.empty()) text += ' ';
    text += name + '=' + std::to_string(value);
  }
  return text;
}

}  // namespace mailbench
