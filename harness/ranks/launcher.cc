#include "harness/ranks/launcher.h"

#include <charconv>
#include <cstdlib>
#include <optional>
#include <string>
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

std::string Told(const char* name) { return std::string(name) + '=' + std::getenv(name); }

// Nothing unless the two variables are a rank and a size.
std::optional<LauncherFacts> Facts(const char* rank_name, const char* size_name) {
  const std::optional<int> rank = ReadNumber(rank_name);
  const std::optional<int> size = ReadNumber(size_name);
  if (!rank || !size || *rank >= *size) {
    return std::nullopt;
  }
  return LauncherFacts{.launched = true,
                       .rank = *rank,
                       .size = *size,
                       .told_by = Told(rank_name) + " and " + Told(size_name)};
}

// The same of the step that srun started this process in, if it did.
std::optional<LauncherFacts> FactsOfSlurmStep(const char* rank_name) {
  if (!ReadNumber("SLURM_PROCID") || std::getenv("SLURM_STEP_ID") == nullptr) {
    return std::nullopt;
  }
  const bool of_step = ReadNumber("SLURM_STEP_NUM_TASKS").has_value();
  return Facts(rank_name, of_step ? "SLURM_STEP_NUM_TASKS" : "SLURM_NTASKS");
}

}  // namespace

LauncherFacts ReadLauncherEnvironment() {
  constexpr const char* kPairs[][2] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                       {"PMI_RANK", "PMI_SIZE"},
                                       {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"}};
  for (const auto& [rank_name, size_name] : kPairs) {
    if (const auto facts = Facts(rank_name, size_name)) {
      return *facts;
    }
  }
  if (const auto rank = ReadNumber("PMIX_RANK")) {
    const LauncherFacts alone = {
        .launched = true, .rank = *rank, .size = 1, .told_by = Told("PMIX_RANK")};
    return FactsOfSlurmStep("PMIX_RANK").value_or(alone);
  }
  return FactsOfSlurmStep("SLURM_PROCID").value_or(LauncherFacts{});
}

std::string WhyNotAlone(const LauncherFacts& launcher) {
  if (launcher.size == 1 && launcher.rank == 0) {
    return "";
  }
  const std::string count =
      launcher.size > 1 ? std::to_string(launcher.size) + " processes" : "several processes";
  return launcher.told_by + ": a launcher started " + count +
         ", but MPI sees one: most likely it is the launcher of another MPI library than this "
         "program was built with, or srun without --mpi=pmix";
}

}  // namespace mailbench
