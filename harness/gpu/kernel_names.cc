#include "harness/gpu/kernel_names.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "harness/gpu/cuda_error.h"

namespace mailbench {
namespace {

// The runtime's own cudaGraphKernelNodeGetParams knows the kernels of its own copy only, and a
// library has linked another one: so the driver is asked.
std::string NodeSymbol(const DriverTable& driver, cudaGraphNode_t node) {
  CUDA_KERNEL_NODE_PARAMS_v2 params{};
  MAILBENCH_DRIVER(driver, GraphKernelNodeGetParams, node, &params);
  const char* name = nullptr;
  if (params.func != nullptr) {
    MAILBENCH_DRIVER(driver, FuncGetName, &name, params.func);
  } else {  // cuda.h: `kern` counts where `func` is null
    MAILBENCH_DRIVER(driver, KernelGetName, &name, params.kern);
  }
  return name;
}

std::vector<cudaGraphNode_t> Nodes(cudaGraph_t graph) {
  std::size_t count = 0;
  MAILBENCH_CUDA(cudaGraphGetNodes(graph, nullptr, &count));
  std::vector<cudaGraphNode_t> nodes(count);
  if (count > 0) MAILBENCH_CUDA(cudaGraphGetNodes(graph, nodes.data(), &count));
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

std::vector<KernelCount> KernelsOf(const DriverTable& driver, cudaGraph_t graph) {
  std::vector<KernelCount> kernels;
  for (const cudaGraphNode_t node : Nodes(graph)) {
    cudaGraphNodeType type{};
    MAILBENCH_CUDA(cudaGraphNodeGetType(node, &type));
    if (type == cudaGraphNodeTypeKernel) Count(KernelName(NodeSymbol(driver, node)), kernels);
  }
  return kernels;
}

}  // namespace mailbench
