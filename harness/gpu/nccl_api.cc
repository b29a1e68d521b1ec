#include "harness/gpu/nccl_api.h"

#include <dlfcn.h>

#include <array>
#include <cstdlib>
#include <type_traits>

namespace mailbench {
namespace {

constexpr const char* kLibrary = "libnccl.so.2";

// The path of the file that holds `symbol`, which dlopen may have found anywhere.
std::string PathOf(void* symbol) {
  Dl_info info{};
  return dladdr(symbol, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : kLibrary;
}

class Symbols {
 public:
  explicit Symbols(void* library) : library_(library) {}

  template <typename Function>
  void Need(const char* name, Function*& function) {
    Find(name, function);
    if (function == nullptr && missing_.empty()) missing_ = name;
  }
  template <typename Function>
  void Find(const char* name, Function*& function) {
    static_assert(std::is_function_v<Function>);
    function = reinterpret_cast<Function*>(dlsym(library_, name));
  }
  const std::string& missing() const { return missing_; }  // the first one; "" when none is

 private:
  void* library_;
  std::string missing_;
};

std::string FillTable(void* library, NcclApi& api) {
  Symbols symbols(library);
  symbols.Need("ncclGetVersion", api.get_version);
  symbols.Need("ncclGetUniqueId", api.get_unique_id);
  symbols.Need("ncclCommInitRank", api.comm_init_rank);
  symbols.Need("ncclCommDestroy", api.comm_destroy);
  symbols.Need("ncclCommAbort", api.comm_abort);
  symbols.Need("ncclCommGetAsyncError", api.comm_get_async_error);
  symbols.Need("ncclGetErrorString", api.get_error_string);
  symbols.Need("ncclGetLastError", api.get_last_error);
  symbols.Need("ncclAllGather", api.all_gather);
  symbols.Find("ncclMemAlloc", api.mem_alloc);
  symbols.Find("ncclMemFree", api.mem_free);
  symbols.Find("ncclCommWindowRegister", api.window_register);
  symbols.Find("ncclCommWindowDeregister", api.window_deregister);
  return symbols.missing();
}

}  // namespace

std::string NcclCodeName(NcclCode code) {
  static constexpr std::array<const char*, 8> kNames = {
      "ncclSuccess",         "ncclUnhandledCudaError", "ncclSystemError", "ncclInternalError",
      "ncclInvalidArgument", "ncclInvalidUsage",       "ncclRemoteError", "ncclInProgress"};
  const auto index = static_cast<std::size_t>(code);
  return index < kNames.size() ? kNames[index]
                               : "ncclResult_t " + std::to_string(static_cast<int>(code));
}

std::string NcclVersionText(int version) {
  return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

NcclLoad LoadNccl() {
  const char* named = std::getenv("MAILBENCH_NCCL");
  const bool by_name = named != nullptr && *named != '\0';
  void* library = dlopen(by_name ? named : kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* error = dlerror();
    return {
        std::nullopt,
        std::string(by_name ? "NCCL, as named by MAILBENCH_NCCL, cannot be loaded: "
                            : "NCCL is not on the library path, nor named by MAILBENCH_NCCL: ") +
            (error != nullptr ? error : "dlopen gives no reason")};
  }
  NcclApi api;
  const std::string missing = FillTable(library, api);
  if (api.get_version == nullptr) {
    return {std::nullopt,
            std::string(by_name ? named : kLibrary) + " is not NCCL: it lacks ncclGetVersion"};
  }
  api.path = PathOf(reinterpret_cast<void*>(api.get_version));
  if (api.get_version(&api.version) != NcclCode::kSuccess) {
    return {std::nullopt, "NCCL (" + api.path + ") does not tell its version"};
  }
  if (!missing.empty()) {
    return {std::nullopt, "NCCL " + NcclVersionText(api.version) + " (" + api.path +
                              ") is too old: it lacks " + missing};
  }
  return {std::move(api), ""};
}

}  // namespace mailbench
