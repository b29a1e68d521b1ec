#include "harness/gpu/gpu_facts_text.h"

#include <array>
#include <cstdio>
#include <optional>
#include <sstream>
#include <string_view>

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
  visit(facts.place.health_mask);
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

constexpr std::array<std::string_view, 4> kFabricStates = {"not supported", "not started",
                                                           "in progress", "completed"};
static_assert(kFabricNotSupported == 0 && kFabricCompleted == 3);

// Of the health mask, from its lowest bits.
constexpr std::array<std::string_view, 4> kTroubles = {
    "degraded bandwidth", "route recovery", "route unhealthy", "access timeout recovery"};
constexpr unsigned kTroubleBits = 2;
constexpr std::uint32_t kNotSupported = 0;
constexpr std::uint32_t kTrue = 1;
constexpr std::uint32_t kFalse = 2;

// After them the configuration: 0 not supported, 1 correct, and from 2 what is wrong with it.
constexpr unsigned kConfigurationShift = kTroubles.size() * kTroubleBits;
constexpr unsigned kConfigurationBits = 4;
constexpr std::uint32_t kFirstWrong = 2;
constexpr std::array<std::string_view, 6> kWrongConfigurations = {
    "system GUID",          "chassis serial number",     "no partition",
    "insufficient NVLinks", "incompatible GPU firmware", "invalid location"};

std::uint32_t Bits(std::uint32_t mask, unsigned shift, unsigned width) {
  return mask >> shift & ((1U << width) - 1);
}

std::string ConfigurationTrouble(std::uint32_t value) {
  const std::size_t wrong = value - kFirstWrong;
  return "incorrect configuration: " + (wrong < kWrongConfigurations.size()
                                            ? std::string(kWrongConfigurations[wrong])
                                            : "value " + std::to_string(value));
}

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

std::string FabricStateText(int state) {
  const auto index = static_cast<std::size_t>(state);
  return index < kFabricStates.size() ? std::string(kFabricStates[index])
                                      : "state " + std::to_string(state);
}

std::vector<std::string> FabricTroubles(std::uint32_t health_mask) {
  std::vector<std::string> troubles;
  for (unsigned i = 0; i < kTroubles.size(); ++i) {
    const std::uint32_t value = Bits(health_mask, i * kTroubleBits, kTroubleBits);
    if (value == kNotSupported || value == kFalse) continue;
    troubles.emplace_back(kTroubles[i]);
    if (value != kTrue) troubles.back() += ": value " + std::to_string(value);
  }
  const std::uint32_t configuration = Bits(health_mask, kConfigurationShift, kConfigurationBits);
  if (configuration >= kFirstWrong) troubles.push_back(ConfigurationTrouble(configuration));
  return troubles;
}

std::string HealthMaskText(std::uint32_t health_mask) {
  std::array<char, 11> text{};
  std::snprintf(text.data(), text.size(), "0x%08x", health_mask);
  return text.data();
}

}  // namespace mailbench
