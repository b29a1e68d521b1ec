#include "harness/command_line/config_json.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace mailbench {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

RunConfig Full() {
  RunConfig config;
  config.bytes = {16, 1024};
  config.capacity = 2048;
  config.algorithms = {"mpi", "lamport"};
  config.transport = "host";
  config.modes = {Mode::kEager};
  config.iters = 3;
  config.warmup = 0;
  config.calls_per_graph = 4;
  config.replays = 5;
  config.seed = 18446744073709551615u;
  config.timeout_seconds = 0.5;
  config.check = false;
  config.json = "r.json";
  config.force = true;
  config.own = {{"parity", "3"}};
  return config;
}

// Reports and the comparison of ranks rely on this very text.
TEST(CanonicalJson, IsStable) {
  EXPECT_EQ(
      CanonicalJson(Full()),
      R"({"algorithm":["mpi","lamport"],"bytes":[16,1024],"calls-per-graph":4,)"
      R"("capacity":2048,"check":false,"force":true,"iters":3,"json":"r.json",)"
      R"("l2":["hot"],"mode":["eager"],"parity":"3","ranks-per-gpu":1,"replays":5,"resume":false,)"
      R"("seed":18446744073709551615,"timeout":0.5,"transport":"host","warmup":0})");
}

TEST(CanonicalJson, TellsEveryFieldApart) {
  const std::string full = CanonicalJson(Full());
  void (*const changes[])(RunConfig&) = {
      [](RunConfig& c) { c.bytes = {16}; },
      [](RunConfig& c) { c.capacity = 4096; },
      [](RunConfig& c) { c.algorithms.clear(); },
      [](RunConfig& c) {
        c.algorithms = {"lamport", "mpi"};
      },
      [](RunConfig& c) { c.transport = "auto"; },
      [](RunConfig& c) {
        c.modes = {Mode::kEager, Mode::kGraph};
      },
      [](RunConfig& c) { c.modes = {Mode::kIsolated}; },
      [](RunConfig& c) { c.l2 = {L2State::kCold}; },
      [](RunConfig& c) { c.iters = 4; },
      [](RunConfig& c) { c.warmup = 1; },
      [](RunConfig& c) { c.calls_per_graph = 5; },
      [](RunConfig& c) { c.ranks_per_gpu = 2; },
      [](RunConfig& c) { c.replays = 6; },
      [](RunConfig& c) { c.seed = 1; },
      [](RunConfig& c) { c.timeout_seconds = 1; },
      [](RunConfig& c) { c.check = true; },
      [](RunConfig& c) { c.stress = 9; },
      [](RunConfig& c) { c.json = ""; },
      [](RunConfig& c) { c.trace = "t.json"; },
      [](RunConfig& c) { c.force = false; },
      [](RunConfig& c) { c.resume = true; },
      [](RunConfig& c) { c.list = true; },
      [](RunConfig& c) { c.dry_run = true; },
      [](RunConfig& c) { c.own["parity"] = "2"; },
  };
  for (const auto change : changes) {
    RunConfig config = Full();
    change(config);
    EXPECT_NE(CanonicalJson(config), full);
    EXPECT_NE(HashText(CanonicalJson(config)), HashText(full));
    EXPECT_NE(DescribeDifference(full, CanonicalJson(config)), "");
  }
}

// A stress refuses it, and what is reported of a stress is to repeat it.
TEST(CanonicalJson, OfAStressNamesNothingThatIsOfPoints) {
  RunConfig stress = Full();
  stress.stress = 9;
  for (const std::string& text :
       {CanonicalJson(stress), ReportedJson(stress), MeasuredJson(stress)}) {
    EXPECT_THAT(text, HasSubstr(R"("stress":9)"));
    for (const char* key : {"mode", "l2", "iters", "warmup", "replays"}) {
      EXPECT_THAT(text, Not(HasSubstr('"' + std::string(key) + '"')));
    }
  }
}

TEST(MeasuredJson, LeavesOutWhatNoMeasurementDependsOn) {
  RunConfig other = Full();
  other.json = "elsewhere.json";
  other.force = false;
  other.resume = true;
  other.list = true;
  other.dry_run = true;
  other.timeout_seconds = 9;
  EXPECT_EQ(MeasuredJson(Full()), MeasuredJson(other));
  other.seed = 2;
  EXPECT_NE(MeasuredJson(Full()), MeasuredJson(other));
}

TEST(HashText, IsFnv1a) {
  EXPECT_EQ(HashText(""), 0xcbf29ce484222325u);
  EXPECT_EQ(HashText("a"), 0xaf63dc4c8601ec8cu);
  EXPECT_EQ(HashText("foobar"), 0x85944171f73967e8u);
}

TEST(DescribeDifference, NamesKeysAndBothValues) {
  const std::string full = CanonicalJson(Full());
  EXPECT_EQ(DescribeDifference(full, full), "");
  RunConfig other = Full();
  other.warmup = 7;
  EXPECT_EQ(DescribeDifference(full, CanonicalJson(other)), "warmup: 0 against 7");
  other.algorithms.clear();
  other.dry_run = true;
  EXPECT_EQ(DescribeDifference(full, CanonicalJson(other)),
            "algorithm: [\"mpi\",\"lamport\"] against not given; dry-run: not given against true; "
            "warmup: 0 against 7");
  other.seed = 1;
  EXPECT_THAT(DescribeDifference(full, CanonicalJson(other)),
              AllOf(HasSubstr("seed: 18446744073709551615 against 1"), Not(HasSubstr("warmup"))));
}

TEST(DescribeDifference, ShowsWhereLongValuesPart) {
  RunConfig a = Full();
  for (int i = 0; i < 1000; ++i) a.bytes.push_back(2048 + 16 * i);
  RunConfig b = a;
  b.bytes[500] = 7;
  const std::string text = DescribeDifference(CanonicalJson(a), CanonicalJson(b));
  EXPECT_THAT(text, AllOf(HasSubstr(std::to_string(a.bytes[500])), HasSubstr(",7,")));
  EXPECT_THAT(text, SizeIs(::testing::Lt(200u)));
}

}  // namespace
}  // namespace mailbench
