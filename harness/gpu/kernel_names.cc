#include "harness/gpu/kernel_names.h"

#include <cuda.h>
#include <cudaTypedefs.h>
#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "harness/error.h"

namespace mailbench {
namespace {

// The runtime's own cudaGraphKernelNodeGetParams knows the kernels of its own copy only, and a
// library has linked another one: so the driver is asked.
struct NameCalls {
  PFN_cuGraphKernelNodeGetParams_v12000 node_params = nullptr;
  PFN_cuFuncGetName_v12030 function_name = nullptr;
  PFN_cuKernelGetName_v12030 kernel_name = nullptr;
};

template <typename Function>
void LoadCall(const char* name, unsigned int version, Function& function) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result = cudaDriverEntryPointSymbolNotFound;
  const cudaError_t error =
      cudaGetDriverEntryPointByVersion(name, &found, version, cudaEnableDefault, &result);
  if (error != cudaSuccess || result != cudaDriverEntryPointSuccess) {
    throw MachineError(std::string("the CUDA driver gives no ") + name +
                       ", which tells the kernels of a graph");
  }
  function = reinterpret_cast<Function>(found);
}

NameCalls LoadNameCalls() {
  NameCalls calls;
  LoadCall("cuGraphKernelNodeGetParams", 12000, calls.node_params);
  LoadCall("cuFuncGetName", 12030, calls.function_name);
  LoadCall("cuKernelGetName", 12030, calls.kernel_name);
  return calls;
}

void Check(bool passed, const char* call, int code) {
  if (!passed) {
    throw SystemError(std::string(call) + " failed with code " + std::to_string(code) +
                      " while the kernels of a graph were listed");
  }
}

std::string NodeSymbol(const NameCalls& calls, cudaGraphNode_t node) {
  CUDA_KERNEL_NODE_PARAMS_v2 params{};
  CUresult result = calls.node_params(node, &params);
  Check(result == CUDA_SUCCESS, "cuGraphKernelNodeGetParams", result);
  const char* name = nullptr;
  // cuda.h: `kern` counts where `func` is null.
  result = params.func != nullptr ? calls.function_name(&name, params.func)
                                  : calls.kernel_name(&name, params.kern);
  Check(result == CUDA_SUCCESS && name != nullptr, "cuFuncGetName", result);
  return name;
}

std::vector<cudaGraphNode_t> Nodes(cudaGraph_t graph) {
  std::size_t count = 0;
  cudaError_t error = cudaGraphGetNodes(graph, nullptr, &count);
  Check(error == cudaSuccess, "cudaGraphGetNodes", error);
  std::vector<cudaGraphNode_t> nodes(count);
  if (count == 0) return nodes;
  error = cudaGraphGetNodes(graph, nodes.data(), &count);
  Check(error == cudaSuccess, "cudaGraphGetNodes", error);
  return nodes;
}

void Count(const std::string& name, std::vector<KernelCount>& kernels) {
  const auto known = std::find_if(kernels.begin(), kernels.end(),
                                  [&](const KernelCount& kernel) { return kernel.name == name; });
  if (known == kernels.end()) {
    kernels.push_back({name, 1});
  } else {
    ++known->count;
  }
}

// Where the group of parentheses that ends `text` begins; npos when none ends it.
std::size_t LastGroup(std::string_view text) {
  if (text.empty() || text.back() != ')') return std::string_view::npos;
  int depth = 0;
  for (std::size_t at = text.size(); at-- > 0;) {
    if (text[at] == ')') ++depth;
    if (text[at] == '(' && --depth == 0) return at;
  }
  return std::string_view::npos;
}

}  // namespace

std::string KernelName(const std::string& symbol) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> demangled(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), &std::free);
  // A plain name like "f" reads as a type ("float") to the demangler.
  if (demangled == nullptr || !symbol.starts_with("_Z")) return symbol;
  std::string name = demangled.get();
  if (const std::size_t parameters = LastGroup(name); parameters != std::string::npos) {
    name.resize(parameters);
  }
  // Only instances of templates have a return type in their name, and a kernel's is void.
  constexpr std::string_view kVoid = "void ";
  return name.starts_with(kVoid) ? name.substr(kVoid.size()) : name;
}

std::vector<KernelCount> KernelNames(cudaGraph_t graph) {
  const NameCalls calls = LoadNameCalls();
  std::vector<KernelCount> kernels;
  for (const cudaGraphNode_t node : Nodes(graph)) {
    cudaGraphNodeType type{};
    const cudaError_t error = cudaGraphNodeGetType(node, &type);
    Check(error == cudaSuccess, "cudaGraphNodeGetType", error);
    if (type == cudaGraphNodeTypeKernel) Count(KernelName(NodeSymbol(calls, node)), kernels);
  }
  return kernels;
}

std::string KernelNamesText(std::span<const KernelCount> kernels) {
  std::string text;
  for (const KernelCount& kernel : kernels) {
    if (!text.empty()) text += ", ";
    text += kernel.name;
    if (kernel.count > 1) text += " x " + std::to_string(kernel.count);
  }
  return text;
}

}  // namespace mailbench
