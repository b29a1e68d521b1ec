#include "harness/gpu/gpu_facts_text.h"

#include <optional>
#include <sstream>

namespace mailbench {
namespace {

// One list of the fields, for both directions.
template <typename Facts, typename Visitor>
void VisitFields(Facts& facts, Visitor&& visit) {
  visit(facts.name);
  visit(facts.uuid);
  visit(facts.pci_bus_id);
  visit(facts.index);
  visit(facts.multiprocessors);
  visit(facts.compute_major);
  visit(facts.compute_minor);
  visit(facts.memory_bytes);
  visit(facts.l2_bytes);
  visit(facts.driver);
  visit(facts.cuda_driver);
  visit(facts.cuda_runtime);
  visit(facts.sm_clock_mhz);
  visit(facts.sm_clock_max_mhz);
  visit(facts.memory_clock_mhz);
  visit(facts.memory_clock_max_mhz);
  visit(facts.mig);
  visit(facts.mps);
  visit(facts.virtual_memory);
  visit(facts.posix_fd);
  visit(facts.fabric);
  visit(facts.multicast);
  visit(facts.place.state);
  visit(facts.place.status);
  visit(facts.place.cluster);
  visit(facts.place.clique);
}

// A line a field: no value holds a line's end.
struct Writer {
  std::ostringstream& out;
  template <typename Value>
  void operator()(const Value& value) const {
    out << value << '\n';
  }
  void operator()(const std::optional<int>& value) const {
    if (value) out << *value;
    out << '\n';
  }
};

struct Reader {
  std::istringstream& in;
  std::string Line() const {
    std::string line;
    std::getline(in, line);
    return line;
  }
  template <typename Value>
  void operator()(Value& value) const {
    std::istringstream(Line()) >> value;
  }
  void operator()(std::string& value) const { value = Line(); }
  void operator()(std::optional<int>& value) const {
    const std::string line = Line();
    if (!line.empty()) value = std::stoi(line);
  }
};

}  // namespace

std::string WriteGpuFacts(const GpuFacts& facts) {
  std::ostringstream out;
  VisitFields(facts, Writer{out});
  return out.str();
}

GpuFacts ReadGpuFacts(const std::string& text) {
  std::istringstream in(text);
  GpuFacts facts;
  VisitFields(facts, Reader{in});
  return facts;
}

std::string CudaVersionText(int version) {
  return std::to_string(version / 1000) + '.' + std::to_string(version % 1000 / 10);
}

}  // namespace mailbench
