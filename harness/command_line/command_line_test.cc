#include "harness/command_line/command_line.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "harness/command_line/config_json.h"
#include "harness/command_line/fake_collective.h"
#include "harness/command_line/flag_table.h"
#include "harness/error.h"

namespace mailbench {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::ThrowsMessage;

class CommandLineTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "flags_XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  CommandLine Parse(std::vector<std::string> args) const {
    std::vector<const char*> argv = {"fake_gather"};
    for (const std::string& arg : args) argv.push_back(arg.c_str());
    return ParseCommandLine(argv, collective_);
  }
  RunConfig Config(std::vector<std::string> args) const { return Parse(std::move(args)).config; }
  // With a config file that holds `json`.
  RunConfig Config(const std::string& json, std::vector<std::string> args) const {
    const std::string path = folder_ / "c.json";
    std::ofstream(path) << json;
    args.insert(args.begin(), {"--config", path});
    return Config(std::move(args));
  }

  std::filesystem::path folder_;
  FakeCollective collective_;
};

TEST_F(CommandLineTest, DefaultsAreTheDocumentedOnes) {
  const RunConfig config = Config({});
  EXPECT_THAT(config.bytes, ElementsAre(16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384,
                                        32768, 65536, 131072, 262144, 524288));
  EXPECT_EQ(config.capacity, 524288);
  EXPECT_TRUE(config.algorithms.empty());
  EXPECT_EQ(config.transport, "auto");
  EXPECT_THAT(config.modes, ElementsAre(Mode::kGraph, Mode::kEager));
  EXPECT_THAT(config.l2, ElementsAre(L2State::kHot));
  EXPECT_EQ(config.iters, 20);
  EXPECT_EQ(config.replays, 20);
  EXPECT_EQ(config.ranks_per_gpu, 1);
  EXPECT_EQ(config.warmup, 5);
  EXPECT_EQ(config.calls_per_graph, 10);
  EXPECT_EQ(config.seed, 1u);
  EXPECT_EQ(config.timeout_seconds, 60);
  EXPECT_TRUE(config.check);
  EXPECT_EQ(config.stress, 0);
  EXPECT_EQ(config.json, "");
  EXPECT_FALSE(config.force || config.resume || config.list || config.dry_run);
  EXPECT_THAT(config.own, ElementsAre(std::pair("label", "none"), std::pair("parity", "3")));
  EXPECT_EQ(ParseCommandLine({}, collective_).config.bytes, config.bytes);
}

// Every flag as --flag VALUE, --flag=VALUE, by its letter and as a key gives the same run.
TEST_F(CommandLineTest, FlagsAndKeysMeanTheSame) {
  const struct {
    const char* name;
    const char* letter;
    const char* value;
    const char* json;
    const char* canonical;  // part of the canonical text
  } kCases[] = {
      {"min-bytes", "b", "256K", R"("256K")", R"("bytes":[262144,524288])"},
      {"min-bytes", "b", "262144", "262144", R"("bytes":[262144,524288])"},
      {"max-bytes", "e", "48", "48", R"("bytes":[16,32])"},
      {"step-factor", "f", "1000", "1000", R"("bytes":[16,16000])"},
      {"step-bytes", "i", "256K", R"("256K")", R"("bytes":[16,262160])"},
      {"bytes", "", "16,1K,64K", R"([16, "1K", 65536])", R"("bytes":[16,1024,65536])"},
      {"bytes", "", "64K", R"("64K")", R"("bytes":[65536])"},
      {"capacity", "", "1M", R"("1M")", R"("capacity":1048576)"},
      {"algorithm", "", "mpi,lamport", R"(["mpi", "lamport"])", R"("algorithm":["mpi","lamport"])"},
      {"algorithm", "", "torn", R"("torn")", R"("algorithm":["torn"])"},
      {"transport", "", "host-multicast", R"("host-multicast")", R"("transport":"host-multicast")"},
      {"transport", "", "multicast", R"("multicast")", R"("transport":"multicast")"},
      {"transport", "", "unicast", R"("unicast")", R"("transport":"unicast")"},
      {"transport", "", "host", R"("host")", R"("transport":"host")"},
      {"mode", "", "eager", R"("eager")", R"("mode":["eager"])"},
      {"mode", "", "eager,graph", R"(["eager", "graph"])", R"("mode":["eager","graph"])"},
      {"mode", "", "isolated", R"(["isolated"])", R"("mode":["isolated"])"},
      {"l2", "", "cold", R"("cold")", R"("l2":["cold"])"},
      {"l2", "", "cold,hot", R"(["cold", "hot"])", R"("l2":["cold","hot"])"},
      {"iters", "n", "7", "7",
       R"("iters":7,"l2":["hot"],"label":"none","mode":["graph","eager"],"parity":"3",)"
       R"("ranks-per-gpu":1,"replays":7)"},
      {"warmup", "w", "0", "0", R"("warmup":0)"},
      {"calls-per-graph", "", "10000", "10000", R"("calls-per-graph":10000)"},
      {"ranks-per-gpu", "", "4", "4", R"("ranks-per-gpu":4)"},
      {"replays", "", "9", "9", R"("replays":9)"},
      {"seed", "", "18446744073709551615", "18446744073709551615",
       R"("seed":18446744073709551615)"},
      {"timeout", "T", "0.5", "0.5", R"("timeout":0.5)"},
      {"check", "c", "0", "false", R"("check":false)"},
      {"stress", "", "20000", "20000", R"("stress":20000)"},
      {"check", "c", "1", "1", R"("check":true)"},
      {"json", "J", "out/r.json", R"("out/r.json")", R"("json":"out/r.json")"},
      {"trace", "", "out/t.json", R"("out/t.json")", R"("trace":"out/t.json")"},
      {"parity", "", "2", "2", R"("parity":"2")"},
      {"label", "", "a = b", R"("a = b")", R"("label":"a = b")"},
  };
  for (const auto& c : kCases) {
    const std::string flag = std::string("--") + c.name;
    SCOPED_TRACE(flag + " " + c.value);
    const std::string canonical = CanonicalJson(Config({flag, c.value}));
    EXPECT_THAT(canonical, HasSubstr(c.canonical));
    EXPECT_EQ(CanonicalJson(Config({flag + "=" + c.value})), canonical);
    if (*c.letter != '\0') {
      const std::string letter = std::string("-") + c.letter;
      EXPECT_EQ(CanonicalJson(Config({letter, c.value})), canonical);
      EXPECT_EQ(CanonicalJson(Config({letter + c.value})), canonical);
    }
    const std::string json = "{\"" + std::string(c.name) + "\": " + c.json + "}";
    EXPECT_EQ(CanonicalJson(Config(json, {})), canonical);
  }
}

TEST_F(CommandLineTest, SwitchesSetTheirBooleans) {
  EXPECT_TRUE(Config({"--json", "r", "--force"}).force);
  EXPECT_TRUE(Config({"--trace", "r", "--force"}).force);
  EXPECT_TRUE(Config({"--json", "r", "--resume"}).resume);
  EXPECT_TRUE(Config({"--list"}).list);
  EXPECT_TRUE(Config({"--dry-run"}).dry_run);
  EXPECT_TRUE(Config(R"({"json": "r", "force": true})", {}).force);
  EXPECT_TRUE(Config(R"({"json": "r", "resume": true})", {}).resume);
  EXPECT_FALSE(Config(R"({"json": "r", "force": false})", {"--resume"}).force);
}

TEST_F(CommandLineTest, FlagsReplaceKeys) {
  const std::string file = R"({"iters": 7, "warmup": 3, "mode": ["graph"]})";
  const RunConfig config = Config(file, {"-n", "5", "--mode", "eager"});
  EXPECT_EQ(config.iters, 5);
  EXPECT_EQ(config.replays, 5);
  EXPECT_EQ(config.warmup, 3);
  EXPECT_THAT(config.modes, ElementsAre(Mode::kEager));
}

TEST_F(CommandLineTest, AnySizeFlagReplacesTheFilesSizeGroup) {
  const std::string file = R"({"min-bytes": 64, "max-bytes": 256, "step-bytes": 64})";
  EXPECT_THAT(Config(file, {}).bytes, ElementsAre(64, 128, 192, 256));
  EXPECT_THAT(Config(file, {"-e", "64"}).bytes, ElementsAre(16, 32, 64));
  EXPECT_THAT(Config(file, {"--bytes", "48"}).bytes, ElementsAre(48));
  EXPECT_THAT(Config(R"({"bytes": [48]})", {"-b", "512K"}).bytes, ElementsAre(524288));
  EXPECT_THAT(Config(R"({"bytes": [48]})", {"-i", "256K"}).bytes, ElementsAre(16, 262160));
  EXPECT_THAT(Config(R"({"bytes": [48]})", {"-f", "1000"}).bytes, ElementsAre(16, 16000));
  // The capacity is no part of the group.
  EXPECT_EQ(Config(R"({"bytes": [48], "capacity": 1024})", {"--bytes", "64"}).capacity, 1024);
}

TEST_F(CommandLineTest, RefusesByNameAndValue) {
  const struct {
    std::vector<std::string> args;
    const char* name;
    const char* value;
  } kCases[] = {
      {{"-n", "0"}, "--iters", "\"0\""},
      {{"-n", "-5"}, "--iters", "\"-5\""},
      {{"--iters", "1e3"}, "--iters", "\"1e3\""},
      {{"--iters", "1000001"}, "--iters", "\"1000001\""},
      {{"--iters", "100000000000000000000"}, "--iters", "100000000000000000000"},
      {{"-w", "-1"}, "--warmup", "\"-1\""},
      {{"--warmup", "1000001"}, "--warmup", "\"1000001\""},
      {{"--mode", "lonely"}, "--mode", "\"lonely\""},
      {{"--l2", "warm"}, "--l2", "\"warm\""},
      {{"--l2", "hot,hot"}, "--l2", "\"hot\""},
      {{"--calls-per-graph", "0"}, "--calls-per-graph", "\"0\""},
      {{"--calls-per-graph", "10001"}, "--calls-per-graph", "\"10001\""},
      {{"--ranks-per-gpu", "0"}, "--ranks-per-gpu", "\"0\""},
      {{"--replays", "0"}, "--replays", "\"0\""},
      {{"--seed", "-1"}, "--seed", "\"-1\""},
      {{"--seed", "18446744073709551616"}, "--seed", "\"18446744073709551616\""},
      {{"-T", "0"}, "--timeout", "\"0\""},
      {{"-T", "86401"}, "--timeout", "\"86401\""},
      {{"-T", "1e2"}, "--timeout", "\"1e2\""},
      {{"-T", "nan"}, "--timeout", "\"nan\""},
      {{"-c", "2"}, "--check", "\"2\""},
      {{"-c", "true"}, "--check", "\"true\""},
      {{"-c", ""}, "--check", "\"\""},
      {{"-b", "-5"}, "--min-bytes", "\"-5\""},
      {{"-b", "0"}, "--min-bytes", "\"0\""},
      {{"-b", "24"}, "--min-bytes", "\"24\""},
      {{"-b", " 16"}, "--min-bytes", "\" 16\""},
      {{"-b", "16 "}, "--min-bytes", "\"16 \""},
      {{"-b", "0x10"}, "--min-bytes", "\"0x10\""},
      {{"-b", ""}, "--min-bytes", "\"\""},
      {{"-b", "1M"}, "--min-bytes", "1048576"},
      {{"-b", "64", "-e", "32"}, "--min-bytes", "64"},
      {{"-e", "100000000000000000000"}, "--max-bytes", "\"100000000000000000000\""},
      {{"-e", "65G"}, "--max-bytes", "\"65G\""},
      {{"-f", "1"}, "--step-factor", "\"1\""},
      {{"-f", "0"}, "--step-factor", "\"0\""},
      {{"-f", "-2"}, "--step-factor", "\"-2\""},
      {{"-f", "1.5"}, "--step-factor", "\"1.5\""},
      {{"-i", "0"}, "--step-bytes", "\"0\""},
      {{"-i", "24"}, "--step-bytes", "\"24\""},
      {{"-e", "64G", "-i", "16"}, "--step-bytes", "4096"},
      {{"--bytes", "16,,32"}, "--bytes", "\"16,,32\""},
      {{"--bytes", "16,"}, "--bytes", "\"16,\""},
      {{"--bytes", ",16"}, "--bytes", "\",16\""},
      {{"--bytes", ""}, "--bytes", "\"\""},
      {{"--bytes", "16,16"}, "--bytes", "\"16\" is listed twice"},
      {{"--bytes", "1024,1K"}, "--bytes", "\"1K\" is listed twice"},
      {{"--bytes", "32,16"}, "--bytes", "\"16\" follows a larger"},
      {{"--bytes", "16 32"}, "--bytes", "\"16 32\""},
      {{"--bytes", "16", "-b", "16"}, "--bytes", "--min-bytes"},
      {{"--bytes", "16", "-e", "16"}, "--bytes", "--max-bytes"},
      {{"--bytes", "16", "-f", "2"}, "--bytes", "--step-factor"},
      {{"--bytes", "16", "-i", "16"}, "--bytes", "--step-bytes"},
      {{"-f", "2", "-i", "16"}, "--step-factor", "--step-bytes"},
      {{"--bytes", "2K", "--capacity", "1K"}, "--capacity", "2048"},
      {{"--capacity", "24"}, "--capacity", "\"24\""},
      {{"--capacity", "128G"}, "--capacity", "\"128G\""},
      {{"--algorithm", "fast"}, "--algorithm", "\"fast\""},
      {{"--algorithm", "mpi,mpi"}, "--algorithm", "\"mpi\" is listed twice"},
      {{"--algorithm", "mpi,"}, "--algorithm", "\"mpi,\""},
      {{"--transport", "pigeon"}, "--transport", "\"pigeon\""},
      {{"--transport", "host,unicast"}, "--transport", "\"host,unicast\""},
      {{"--mode", "graph,graph"}, "--mode", "\"graph\" is listed twice"},
      {{"--parity", "4"}, "--parity", "\"4\""},
      {{"--label", "a\tb"}, "--label", R"("a\tb")"},
      {{"--json", ""}, "--json", "empty"},
      {{"--json", "a\nb"}, "--json", R"("a\nb")"},
      {{"--json", "\xff"}, "--json", "UTF-8"},
      {{"--json", "--force"}, "--json", "\"--force\" looks like a flag"},
      {{"--json", std::string(4096, 'x')}, "--json", "too long"},
      {{"--force"}, "--force", "needs --json or --trace"},
      {{"--trace", "--force"}, "--trace", "looks like a flag"},
      {{"--trace", "r", "--json", "r"}, "--trace", "--json"},
      {{"--trace", "r", "--mode", "isolated"}, "--trace", "--mode isolated"},
      {{"--trace", "r", "--l2", "cold"}, "--trace", "--l2 cold"},
      {{"--trace", "r", "--algorithm", "mpi,torn"}, "--trace", "can be traced, only lamport"},
      {{"--stress", "9", "--trace", "r"}, "--stress", "--trace"},
      {{"--resume"}, "--resume", "needs --json"},
      {{"--json", "r", "--resume", "--force"}, "--force", "--resume"},
      {{"--list", "--dry-run"}, "--list", "--dry-run"},
      {{"--stress", "0"}, "--stress", "\"0\""},
      {{"--stress", "1000000001"}, "--stress", "\"1000000001\""},
      {{"--stress", "9", "--bytes", "16"}, "--stress", "only one: 16"},
      {{"--stress", "9", "-c", "0"}, "--stress", "--check"},
      {{"--stress", "9", "--json", "r", "--resume"}, "--stress", "--resume"},
      {{"--stress", "9", "--mode", "graph,eager"}, "--stress", "--mode is"},
      {{"--stress", "9", "-n", "3", "-w", "0"}, "--stress", "--iters, --warmup are"},
      {{"--stress", "9", "--replays", "3", "--l2", "hot"}, "--stress", "--l2, --replays are"},
      {{"--stress", "2M"}, "--stress", "\"2M\" is not a whole number in plain digits"},
      {{"--json", "r", "--resume", "--trace", "t"}, "--resume", "--trace"},
      {{"--config", "/nonexistent/c.json"}, "--config", "/nonexistent/c.json"},
      {{"--config", ""}, "--config", "No such file"},
      // The command line's own form.
      {{"--bites", "16"}, "unknown flag", "--bites"},
      {{"--iter", "16"}, "unknown flag", "--iter"},
      {{"-q"}, "unknown flag", "-q"},
      {{"--Iters", "3"}, "unknown flag", "--Iters"},
      {{"16"}, "stray argument", "16"},
      {{"-n", "3", "4"}, "stray argument", "4"},
      {{"--", "--force"}, "\"--", "--help"},
      {{"/bytes:16"}, "stray argument", "/bytes:16"},
      {{"-n"}, "--iters", "missing"},
      {{"--json"}, "--json", "missing"},
      {{"--bytes=", "16"}, "--bytes", "empty"},
      {{"--force=true", "--json", "r"}, "--force", "takes no value"},
      {{"--list={}"}, "--list", "takes no value"},
      {{"-n", "3", "-n", "3"}, "--iters", "given twice: \"3\" and \"3\""},
      {{"-n", "3", "--iters=4"}, "--iters", "given twice: \"3\" and \"4\""},
      {{"--list", "--list"}, "--list", "given twice"},
      {{"--bytes", "16", "--bytes", "32"}, "--bytes", "given twice"},
      {{"--help=x"}, "--help", "takes no value"},
  };
  for (const auto& c : kCases) {
    SCOPED_TRACE(::testing::PrintToString(c.args));
    EXPECT_THAT([&] { Parse(c.args); },
                ThrowsMessage<UsageError>(
                    AllOf(HasSubstr(c.name), HasSubstr(c.value), Not(HasSubstr("\n")))));
  }
}

TEST_F(CommandLineTest, RefusesTheFilesValuesByKey) {
  const struct {
    const char* json;
    const char* key;
    const char* value;
  } kCases[] = {
      {R"({"iters": 1.5})", "iters", "1.5"},
      {R"({"iters": 1e30})", "iters", "1e30"},
      {R"({"iters": -1})", "iters", "-1"},
      {R"({"bytes": [16, 24]})", "bytes", "24"},
      {R"({"bytes": [1e3]})", "bytes", "1e3"},
      {R"({"bytes": ["16,32"]})", "bytes", "16,32"},
      {R"({"check": 2})", "check", "2"},
      {R"({"check": -1})", "check", "-1"},
      {R"({"seed": 18446744073709551616})", "seed", "18446744073709551616"},
      {R"({"algorithm": "mpi,lamport"})", "algorithm", "mpi,lamport"},
      {R"({"algorithm": [""]})", "algorithm", "\"\""},
      {R"({"json": "a\u0000b"})", "json", R"(a\u0000b)"},
      {R"({"parity": 4})", "parity", "4"},
      {R"({"timeout": 1e2})", "timeout", "1e2"},
      {R"({"bytes": 16, "min-bytes": 16})", "bytes", "key \"min-bytes\""},
  };
  for (const auto& c : kCases) {
    SCOPED_TRACE(c.json);
    EXPECT_THAT([&] { Config(c.json, {}); },
                ThrowsMessage<UsageError>(
                    AllOf(HasSubstr(std::string("key \"") + c.key + "\""), HasSubstr(c.value))));
  }
  // Both origins are named when flag and file exclude each other.
  EXPECT_THAT([&] { Config(R"({"json": "r", "force": true})", {"--resume"}); },
              ThrowsMessage<UsageError>(AllOf(HasSubstr("key \"force\""), HasSubstr("--resume"))));
  EXPECT_THAT(
      [&] {
        Config(R"({"mode": ["graph"]})", {"--stress", "9"});
      },
      ThrowsMessage<UsageError>(AllOf(HasSubstr("key \"mode\""), HasSubstr("--stress"))));
  EXPECT_THAT(
      [&] { Config(R"({"stress": 9, "l2": "cold", "iters": 3})", {}); },
      ThrowsMessage<UsageError>(AllOf(HasSubstr("key \"l2\", "), HasSubstr("key \"iters\" are"),
                                      HasSubstr("key \"stress\""))));
  EXPECT_THAT([&] { Config(R"({"json": "r", "trace": "t"})", {"--resume"}); },
              ThrowsMessage<UsageError>(AllOf(HasSubstr("key \"trace\""), HasSubstr("--resume"))));
  EXPECT_THAT(
      [&] {
        Config(R"({"capacity": 1024})", {"--bytes", "2K"});
      },
      ThrowsMessage<UsageError>(AllOf(HasSubstr("key \"capacity\""), HasSubstr("2048"))));
}

TEST_F(CommandLineTest, LongSweepsEnd) {
  EXPECT_EQ(Config({"-b", "64G", "-e", "64G", "-f", "1000000"}).bytes.size(), 1u);
  EXPECT_EQ(Config({"-e", "64G"}).bytes.size(), 33u);
  EXPECT_EQ(Config({"-b", "64G", "-e", "64G", "-i", "64G"}).bytes.size(), 1u);
  EXPECT_EQ(Config({"-e", "64K", "-i", "16"}).bytes.size(), 4096u);
  EXPECT_THROW(Config({"-b", "16", "-e", "65552", "-i", "16"}), UsageError);
}

TEST_F(CommandLineTest, HelpNamesEveryFlagWithin100Columns) {
  const CommandLine help = Parse({"-n", "x", "--config", "/nonexistent", "-h"});
  EXPECT_EQ(help.kind, CommandLine::Kind::kText);
  for (const Flag& flag : FlagsOf(collective_)) {
    EXPECT_THAT(help.text, HasSubstr("--" + flag.name));
    if (!flag.letter.empty()) {
      EXPECT_THAT(help.text, HasSubstr("\n  -" + flag.letter + ","));
    }
  }
  for (const char* part :
       {"Gathers nothing.", "-np N fake_gather", "2, 3 (default: 3)", "Exit code:"}) {
    EXPECT_THAT(help.text, HasSubstr(part));
  }
  std::size_t start = 0;
  for (std::size_t end; (end = help.text.find('\n', start)) != std::string::npos; start = end + 1) {
    EXPECT_LE(end - start, 100u) << help.text.substr(start, end - start);
  }
  EXPECT_EQ(start, help.text.size()) << "ends with a newline";
}

TEST_F(CommandLineTest, VersionNamesTheBuild) {
  const CommandLine version = Parse({"--version"});
  EXPECT_EQ(version.kind, CommandLine::Kind::kText);
  EXPECT_THAT(version.text,
              ::testing::MatchesRegex("mailbench [0-9.]+ \\(git ([0-9a-f]+(-dirty)?|unknown), "
                                      "(clang|g)\\+\\+ [0-9.]+, (CUDA [0-9.]+|no GPU code)\\)\n"));
}

TEST_F(CommandLineTest, ACollectiveCannotRedeclareAFlag) {
  collective_.mutable_flags().push_back({"iters", "again", "1", {}});
  EXPECT_THROW(Parse({}), std::logic_error);
}

TEST_F(CommandLineTest, TheQuickConfigIsSmall) {
  const RunConfig config = Config({"--config", MAILBENCH_CONFIGS "/quick/lamport_all_gather.json"});
  EXPECT_EQ(config.bytes.front(), 16);
  EXPECT_EQ(config.bytes.back(), 512 * 1024);
  EXPECT_LE(config.iters, 10);
}

}  // namespace
}  // namespace mailbench
