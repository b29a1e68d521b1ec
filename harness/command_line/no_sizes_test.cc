// The command line of a collective that has no sizes.
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "harness/command_line/command_line.h"
#include "harness/command_line/config_file.h"
#include "harness/command_line/config_json.h"
#include "harness/command_line/fake_collective.h"
#include "harness/command_line/flag_table.h"
#include "harness/command_line/resolve.h"
#include "harness/error.h"

namespace mailbench {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::ThrowsMessage;

class NoSizes : public ::testing::Test {
 protected:
  void SetUp() override { collective_.HasNoSizes(); }
  CommandLine Parse(std::vector<const char*> args) const {
    args.insert(args.begin(), "fake_gather");
    return ParseCommandLine(args, collective_);
  }
  RunConfig Config(const std::string& json) const {
    return Resolve(ParseConfigText(json, "c.json", FlagsOf(collective_)), collective_);
  }
  FakeCollective collective_;
};

TEST_F(NoSizes, ATraceOfNoAlgorithmIsRefused) {
  EXPECT_NO_THROW(Parse({"--trace", "t"}));
  for (AlgorithmInfo& info : collective_.mutable_algorithms()) info.traced = false;
  EXPECT_THAT(
      [&] {
        Parse({"--trace", "t"});
      },
      ThrowsMessage<UsageError>("--trace: no algorithm of fake_gather can be traced"));
}

TEST_F(NoSizes, AreRefusedByName) {
  for (const char* flag : {"--min-bytes", "--max-bytes", "--step-bytes", "--bytes", "--capacity"}) {
    EXPECT_THAT(
        [&] {
          Parse({flag, "16"});
        },
        ThrowsMessage<UsageError>(flag + std::string(": fake_gather has no sizes")));
  }
  EXPECT_THAT(
      [&] {
        Parse({"-f", "2"});
      },
      ThrowsMessage<UsageError>("--step-factor: fake_gather has no sizes"));
  EXPECT_THAT([&] { Config(R"({"bytes": [16]})"); },
              ThrowsMessage<UsageError>("c.json: key \"bytes\": fake_gather has no sizes"));
}

TEST_F(NoSizes, NoStressAlternatesThem) {
  EXPECT_THAT(
      [&] {
        Parse({"--stress", "9"});
      },
      ThrowsMessage<UsageError>("--stress: fake_gather cannot be stressed"));
}

TEST_F(NoSizes, AreNeitherReportedNorRepeated) {
  const RunConfig config = Parse({"-n", "3"}).config;
  EXPECT_TRUE(config.bytes.empty());
  const std::string canonical = CanonicalJson(config);
  EXPECT_THAT(canonical, AllOf(Not(HasSubstr("bytes")), Not(HasSubstr("capacity"))));
  EXPECT_EQ(CanonicalJson(Config(canonical)), canonical);
}

TEST_F(NoSizes, HelpLeavesThemOut) {
  const std::string help = Parse({"--help"}).text;
  for (const char* flag : {"--min-bytes", "--capacity", "--stress", "Sizes, in bytes"}) {
    EXPECT_THAT(help, Not(HasSubstr(flag)));
  }
  EXPECT_THAT(help, HasSubstr("--iters"));
}

}  // namespace
}  // namespace mailbench
