#include "harness/gpu/nccl_error.h"

#include "harness/error.h"
#include "harness/ranks/rank_and_host.h"

namespace mailbench {

std::string NcclErrorText(const NcclApi& api, NcclCode code, const char* call, const char* file,
                          int line) {
  const char* text = api.get_error_string(code);
  const char* last = api.get_last_error(nullptr);
  std::string error = std::string(call) + " failed on " + RankAndHost() + ": " +
                      NcclCodeName(code) + ", " + (text != nullptr ? text : "an unknown error");
  if (last != nullptr && *last != '\0') error += std::string(": ") + last;
  return error + " (" + file + ":" + std::to_string(line) + ")";
}

std::string AgreeOnReason(const Ranks& ranks, const std::string& error) {
  try {
    ranks.Vote(ExitCode::kMachine, error);
  } catch (const MachineError& refusal) {
    return refusal.what();
  }
  return "";
}

}  // namespace mailbench
