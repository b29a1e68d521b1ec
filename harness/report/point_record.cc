#include "harness/report/point_record.h"

namespace mailbench {

std::string ToString(const PointKey& key) {
  return key.collective + '/' + key.algorithm + '/' + key.transport + '/' + key.mode +
         "/l2=" + key.l2 + '/' + ToString(key.shape) + "/ranks=" + std::to_string(key.ranks);
}

}  // namespace mailbench
