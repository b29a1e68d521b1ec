// What the tests of the report share.
#pragma once

#include <set>
#include <string>

#include "harness/report/point_record.h"
#include "harness/report/prepare.h"
#include "harness/report/run_facts.h"
#include "harness/report/stress_record.h"

namespace mailbench::test {

// A directory of the test's own. The destructor removes it with all that is in it.
class TestDirectory {
 public:
  TestDirectory();
  ~TestDirectory();
  TestDirectory(const TestDirectory&) = delete;
  TestDirectory& operator=(const TestDirectory&) = delete;

  std::string File(const std::string& name) const { return path_ + '/' + name; }
  const std::string& path() const { return path_; }
  std::set<std::string> Names() const;  // of the files in it

 private:
  std::string path_;
};

RunFacts SampleFacts();
// One as on a machine with all there is, under MPS.
GpuFacts SampleGpu(const std::string& uuid);
// SampleFacts of 4 ranks on two GPUs, with NCCL, and an algorithm that is left out at one size.
RunFacts SampleGpuFacts();
// Of 4 ranks, checked and right.
PointRecord SamplePoint(std::int64_t bytes, int samples = 3);

// Of 4 ranks, finished and right.
StressRecord SampleStress(const std::string& algorithm = "lamport");

void WriteText(const std::string& path, const std::string& text);
// SampleFacts of a run with --stress 1000.
RunFacts SampleStressFacts();
// Writes the journal of a run that has finished points of 16, 32, ... bytes.
void WriteSampleJournal(const std::string& report_path, int points);

// The message of the Error that `action` throws; "" when it throws none.
template <typename ErrorType, typename Action>
std::string MessageOf(Action action) {
  try {
    action();
  } catch (const ErrorType& error) {
    return error.what();
  }
  return "";
}

}  // namespace mailbench::test
