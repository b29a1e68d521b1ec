// What this program was built from and with, for --version and for the report.
#pragma once

#include <string>

namespace mailbench {

struct BuildFacts {
  std::string version;   // of the project: "0.1.0"
  std::string git;       // "6281092a1b2c", with "-dirty" after changes; "unknown" without git
  std::string compiler;  // of the host code: "g++ 12.2.0"
  std::string cuda;      // of the GPU code: "13.0"; empty when it was left out
};

BuildFacts Build();

}  // namespace mailbench
