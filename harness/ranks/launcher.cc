#include "harness/ranks/launcher.h"

#include <charconv>
#include <cstdlib>
#include <optional>
#include <string_view>

namespace mailbench {
namespace {

// The variable as a number that is not negative; nothing when it is unset or anything else.
std::optional<int> ReadNumber(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr) {
    return std::nullopt;
  }
  const std::string_view text(value);
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0) {
    return std::nullopt;
  }
  return number;
}

std::optional<LauncherFacts> Facts(std::optional<int> rank, std::optional<int> size) {
  if (!rank || !size || *rank >= *size) {
    return std::nullopt;
  }
  return LauncherFacts{.launched = true, .rank = *rank, .size = *size};
}

// The number of tasks of the step that srun started this process in.
std::optional<int> ReadSlurmStepSize() {
  if (!ReadNumber("SLURM_PROCID") || std::getenv("SLURM_STEP_ID") == nullptr) {
    return std::nullopt;
  }
  const std::optional<int> size = ReadNumber("SLURM_STEP_NUM_TASKS");
  return size ? size : ReadNumber("SLURM_NTASKS");
}

}  // namespace

LauncherFacts ReadLauncherEnvironment() {
  if (const auto facts =
          Facts(ReadNumber("OMPI_COMM_WORLD_RANK"), ReadNumber("OMPI_COMM_WORLD_SIZE"))) {
    return *facts;
  }
  if (const auto facts = Facts(ReadNumber("PMI_RANK"), ReadNumber("PMI_SIZE"))) {
    return *facts;
  }
  const std::optional<int> step_size = ReadSlurmStepSize();
  if (const auto rank = ReadNumber("PMIX_RANK")) {
    const auto facts = Facts(rank, step_size);
    return facts ? *facts : LauncherFacts{.launched = true, .rank = *rank, .size = 1};
  }
  return Facts(ReadNumber("SLURM_PROCID"), step_size).value_or(LauncherFacts{});
}

}  // namespace mailbench
