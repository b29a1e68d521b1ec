#include "harness/report/report_test_data.h"

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "harness/report/report_json.h"

namespace mailbench::test {

TestDirectory::TestDirectory()
    : path_(std::filesystem::temp_directory_path() / "mailbench_report_XXXXXX") {
  if (mkdtemp(path_.data()) == nullptr) throw std::runtime_error("cannot create " + path_);
}

TestDirectory::~TestDirectory() {
  std::error_code error;
  std::filesystem::remove_all(path_, error);
}

std::set<std::string> TestDirectory::Names() const {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(path_)) {
    names.insert(entry.path().filename());
  }
  return names;
}

RunFacts SampleFacts() {
  RunFacts facts;
  facts.identity.collective = "lamport_all_gather";
  facts.identity.ranks = 4;
  facts.identity.build = {"0.1.0", "6281092a1b2c", "g++ 12.2.0", ""};
  facts.identity.config = R"({"bytes":[16,32],"iters":3,"json":"a.json","timeout":60})";
  facts.identity.measured_config = R"({"bytes":[16,32],"iters":3})";
  facts.start = "2025-01-31T23:59:58.000Z";
  facts.environment.hosts = {{"node1", {0, 1, 2, 3}}};
  facts.environment.ranks = 4;
  facts.environment.cpu_model = "Some Processor";
  facts.environment.cores = 2;
  facts.environment.kernel = "Linux 6.1.0 x86_64";
  facts.environment.mpi_library = "Open MPI v4.1.4";
  facts.environment.transport = "host";
  facts.environment.refused_transports = {{"unicast", "no GPU"}};
  facts.environment.variables = {{"NCCL_DEBUG", "WARN"}};
  facts.skipped = {{"nccl", std::nullopt, "no GPU"}};
  return facts;
}

RunFacts SampleStressFacts() {
  RunFacts facts = SampleFacts();
  facts.identity.config = R"({"bytes":[16,32],"json":"a.json","stress":1000,"timeout":60})";
  facts.identity.measured_config = R"({"bytes":[16,32],"stress":1000})";
  return facts;
}

GpuFacts SampleGpu(const std::string& uuid) {
  GpuFacts gpu;
  gpu.name = "NVIDIA H200";
  gpu.uuid = uuid;
  gpu.pci_bus_id = "0000:65:00.0";
  gpu.multiprocessors = 132;
  gpu.compute_major = 9;
  gpu.memory_bytes = 150'000'000'000;
  gpu.l2_bytes = 62'914'560;
  gpu.driver = "580.95.05";
  gpu.cuda_driver = 13010;
  gpu.cuda_runtime = 13000;
  gpu.sm_clock_mhz = 345;
  gpu.sm_clock_max_mhz = 1980;
  gpu.mps = true;
  gpu.virtual_memory = true;
  gpu.posix_fd = true;
  gpu.place = {.state = kFabricCompleted, .cluster = std::string(32, '0'), .health_mask = 0x1aa};
  return gpu;
}

RunFacts SampleGpuFacts() {
  RunFacts facts = SampleFacts();
  facts.environment.transport = "unicast";
  facts.environment.refused_transports.clear();
  facts.environment.gpus = {SampleGpu("GPU-a"), SampleGpu("GPU-b"), SampleGpu("GPU-a"),
                            SampleGpu("GPU-b")};
  facts.environment.ranks_per_gpu = 2;
  facts.environment.nccl_version = "2.32.3";
  facts.environment.nccl_path = "/usr/lib/libnccl.so.2";
  facts.skipped.push_back({"lamport", SamplePoint(1 << 20).key.shape, "its grids do not fit"});
  return facts;
}

PointRecord SamplePoint(std::int64_t bytes, int samples) {
  PointRecord point;
  point.key = {"lamport_all_gather",
               "lamport",
               "host",
               "graph",
               {{{"bytes", bytes}}, bytes, 4 * bytes, 0.75},
               4};
  point.latency_us = {.min = 1.5, .p50 = 2.25, .max = 4, .mean = 2.5};
  if (samples >= 10) point.latency_us.p90 = 3;
  if (samples >= 100) point.latency_us.p99 = 3.5;
  if (samples >= 1000) point.latency_us.p999 = 3.75;
  for (int i = 0; i < samples; ++i) point.samples_us.push_back(1.5 + i);
  point.p50_interval_us = {2.1875, 2.25, 0.96875};
  point.per_rank = {{1.5, 2, 3.5, 1}, {1.5, 2.125, 3, 0}, {1.25, 2.25, 4, 2}, {1, 1.875, 2, 0}};
  for (RankLatency& own : point.per_rank) own.clock_before_mhz = 1980;
  point.calls_per_sample = 10;
  point.algbw_gb_per_s = 0.5;
  point.busbw_gb_per_s = 0.375;
  point.checked = true;
  point.check_reference = "mpi";
  point.check = {40, 640, 0, 1280, 0, ""};
  return point;
}

StressRecord SampleStress(const std::string& algorithm) {
  StressRecord record;
  record.collective = "lamport_all_gather";
  record.algorithm = algorithm;
  record.transport = "host-multicast";
  record.ranks = 4;
  record.seed = 1;
  record.shapes = {SamplePoint(16).key.shape, SamplePoint(32).key.shape};
  record.patterns = {"period 2", "random"};
  record.calls_per_graph = 10;
  record.calls_wanted = 1000;
  record.finished = true;
  record.calls = 1008;
  record.check = {4032, 100'000, 0, 768, 0, ""};
  record.verified_us = 3.5;
  record.bare_us = 2.25;
  record.seconds = 0.5;
  return record;
}

void WriteText(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

void WriteSampleJournal(const std::string& report_path, int points) {
  JournalWriter journal =
      JournalWriter::Create(JournalPath(report_path), HeaderJson(SampleFacts(), 0), {}, false);
  for (int i = 1; i <= points; ++i) journal.Append(SamplePoint(std::int64_t{16} * i));
}

}  // namespace mailbench::test
