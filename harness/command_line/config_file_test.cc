#include "harness/command_line/config_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "harness/command_line/fake_collective.h"
#include "harness/error.h"

namespace mailbench {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::ThrowsMessage;

const std::vector<Flag>& Flags() {
  static const std::vector<Flag>* const kFlags = new std::vector<Flag>(FlagsOf(FakeCollective()));
  return *kFlags;
}

Settings Parse(const std::string& text) { return ParseConfigText(text, "FILE", Flags()); }

TEST(ConfigText, TakesEveryTypeItNames) {
  EXPECT_THAT(Parse(R"({"bytes": [16, "1K"]})").at("bytes").items, ElementsAre("16", "1K"));
  EXPECT_THAT(Parse(R"({"bytes": 16})").at("bytes").items, ElementsAre("16"));
  EXPECT_THAT(Parse(R"({"min-bytes": 16})").at("min-bytes").items, ElementsAre("16"));
  EXPECT_THAT(Parse(R"({"max-bytes": "1K"})").at("max-bytes").items, ElementsAre("1K"));
  EXPECT_THAT(Parse(R"({"mode": ["graph"]})").at("mode").items, ElementsAre("graph"));
  EXPECT_THAT(Parse(R"({"mode": "graph"})").at("mode").items, ElementsAre("graph"));
  EXPECT_THAT(Parse(R"({"iters": 3})").at("iters").items, ElementsAre("3"));
  EXPECT_THAT(Parse(R"({"timeout": 0.25})").at("timeout").items, ElementsAre("0.25"));
  EXPECT_THAT(Parse(R"({"check": false})").at("check").items, ElementsAre("0"));
  EXPECT_THAT(Parse(R"({"check": true})").at("check").items, ElementsAre("1"));
  EXPECT_THAT(Parse(R"({"check": 1})").at("check").items, ElementsAre("1"));
  EXPECT_THAT(Parse(R"({"force": true})").at("force").items, ElementsAre("true"));
  EXPECT_THAT(Parse(R"({"parity": 2})").at("parity").items, ElementsAre("2"));
  EXPECT_THAT(Parse(R"({"parity": "2"})").at("parity").items, ElementsAre("2"));
  EXPECT_THAT(Parse(R"({"json": "r.json"})").at("json").items, ElementsAre("r.json"));
  EXPECT_TRUE(Parse("{}").empty());
}

TEST(ConfigText, KeepsTheTextOfNumbers) {
  EXPECT_THAT(Parse(R"({"seed": 18446744073709551616})").at("seed").items,
              ElementsAre("18446744073709551616"));
  EXPECT_THAT(Parse(R"({"iters": -3})").at("iters").items, ElementsAre("-3"));
  EXPECT_THAT(Parse(R"({"iters": 1e30})").at("iters").items, ElementsAre("1e30"));
}

TEST(ConfigText, NamesFileAndKeyAsTheOrigin) {
  EXPECT_EQ(Parse(R"({"iters": 3})").at("iters").origin, "FILE: key \"iters\"");
}

TEST(ConfigText, RefusesWrongTypesByName) {
  const struct {
    const char* text;
    const char* key;
    const char* found;
  } kCases[] = {
      {R"({"iters": "3"})", "iters", "a string"},
      {R"({"iters": null})", "iters", "null"},
      {R"({"iters": [3]})", "iters", "an array"},
      {R"({"iters": {"n": 3}})", "iters", "an object"},
      {R"({"iters": true})", "iters", "a boolean"},
      {R"({"bytes": true})", "bytes", "a boolean"},
      {R"({"bytes": [16, null]})", "bytes", "null in the array"},
      {R"({"bytes": [[16]]})", "bytes", "an array in the array"},
      {R"({"bytes": [{}]})", "bytes", "an object in the array"},
      {R"({"min-bytes": [16]})", "min-bytes", "an array"},
      {R"({"mode": [1]})", "mode", "a number in the array"},
      {R"({"transport": 1})", "transport", "a number"},
      {R"({"json": false})", "json", "a boolean"},
      {R"({"force": 1})", "force", "a number"},
      {R"({"force": "true"})", "force", "a string"},
      {R"({"check": "1"})", "check", "a string"},
      {R"({"timeout": "60"})", "timeout", "a string"},
      {R"({"parity": true})", "parity", "a boolean"},
      {R"({"parity": [2]})", "parity", "an array"},
  };
  for (const auto& c : kCases) {
    SCOPED_TRACE(c.text);
    EXPECT_THAT([&] { Parse(c.text); },
                ThrowsMessage<UsageError>(
                    AllOf(HasSubstr(std::string("FILE: key \"") + c.key + "\": expected"),
                          HasSubstr(std::string("found ") + c.found))));
  }
}

TEST(ConfigText, RefusesKeysByName) {
  EXPECT_THAT([] { Parse(R"({"itres": 3})"); },
              ThrowsMessage<UsageError>(HasSubstr("unknown key \"itres\"")));
  EXPECT_THAT([] { Parse(R"({"--iters": 3})"); },
              ThrowsMessage<UsageError>(HasSubstr("unknown key \"--iters\"")));
  EXPECT_THAT([] { Parse(R"({"n": 3})"); }, ThrowsMessage<UsageError>(HasSubstr("key \"n\"")));
  for (const std::string name : {"config", "help", "version", "list", "dry-run"}) {
    EXPECT_THAT([&] { Parse("{\"" + name + "\": true}"); },
                ThrowsMessage<UsageError>(AllOf(HasSubstr(name), HasSubstr("command line alone"))));
  }
  EXPECT_THAT([] { Parse(R"({"iters": 3, "seed": 1, "iters": 3})"); },
              ThrowsMessage<UsageError>(HasSubstr("key \"iters\" is given twice")));
  EXPECT_THAT([] { Parse(R"({"iters": 3, "\u0069ters": 4})"); },
              ThrowsMessage<UsageError>(HasSubstr("key \"iters\" is given twice")));
  EXPECT_THAT([] { Parse(R"({"mode": []})"); },
              ThrowsMessage<UsageError>(HasSubstr("key \"mode\": the list is empty")));
}

TEST(ConfigText, RefusesWhatIsNoJson) {
  for (const std::string text :
       {"", " ", "{", "{\"iters\": 3", "{\"iters\": 3,}", "{} {}", "{}x", "{'iters': 3}",
        "{\"iters\": 03}", "{\"iters\": +3}", "{\"iters\": NaN}", "{\"iters\": 1e999}",
        "{\"json\": \"\xff\"}", "{\"json\": \"\\ud800\"}", "{\"iters\": 3} // few", "iters=3"}) {
    SCOPED_TRACE(text);
    EXPECT_THAT([&] { Parse(text); }, ThrowsMessage<UsageError>(HasSubstr("FILE is not JSON: ")));
  }
  // A NUL in the text must not end it early.
  EXPECT_THROW(Parse(std::string("{}\0{}", 5)), UsageError);
}

TEST(ConfigText, RefusesAllButOneObject) {
  for (const char* text : {"[]", "[16]", "16", "null", "\"x\"", "true"}) {
    SCOPED_TRACE(text);
    EXPECT_THAT([&] { Parse(text); },
                ThrowsMessage<UsageError>(HasSubstr("the config must be one JSON object")));
  }
}

TEST(ConfigText, StopsAtDeepNesting) {
  EXPECT_THROW(Parse(std::string(1'000'000, '[')), UsageError);
  EXPECT_THROW(Parse("{\"bytes\": " + std::string(900'000, '[')), UsageError);
  std::string objects;
  for (int i = 0; i < 100'000; ++i) objects += "{\"bytes\":";
  EXPECT_THROW(Parse(objects), UsageError);
}

TEST(ConfigText, MessagesArePrintable) {
  EXPECT_THAT([] { Parse("{\"json\": \"\xff\x1b\n\"}"); },
              ThrowsMessage<UsageError>(AllOf(Not(HasSubstr("\xff")), Not(HasSubstr("\n")))));
  EXPECT_THAT([] { Parse("{\"a\\nb\": 1}"); },
              ThrowsMessage<UsageError>(HasSubstr(R"(unknown key "a\nb")")));
}

class ConfigFile : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "config_XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string Write(const std::string& text) const {
    const std::string path = folder_ / "c.json";
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }

  std::filesystem::path folder_;
};

TEST_F(ConfigFile, IsRead) {
  const Settings settings = ReadConfigFile(Write(R"({"iters": 3})"), Flags());
  EXPECT_THAT(settings.at("iters").items, ElementsAre("3"));
  EXPECT_THAT(settings.at("iters").origin, HasSubstr("c.json\": key \"iters\""));
}

TEST_F(ConfigFile, RefusesWhatIsNoReadableFile) {
  const auto read = [](const std::string& path) {
    return [path] { ReadConfigFile(path, Flags()); };
  };
  EXPECT_THAT(read(folder_), ThrowsMessage<UsageError>(HasSubstr("is a directory")));
  EXPECT_THAT(read(folder_ / "none"),
              ThrowsMessage<UsageError>(AllOf(HasSubstr("none"), HasSubstr("No such file"))));
  EXPECT_THAT(read(Write("") + "/below"), ThrowsMessage<UsageError>(HasSubstr("below")));
  EXPECT_THROW(ReadConfigFile("", Flags()), UsageError);
  EXPECT_THROW(ReadConfigFile(std::string(10'000, 'x'), Flags()), UsageError);
  const std::string pipe = folder_ / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THAT(read(pipe), ThrowsMessage<UsageError>(HasSubstr("is not a regular file")));
}

TEST_F(ConfigFile, RefusesAnUnreadableFile) {
  if (geteuid() == 0) GTEST_SKIP() << "root reads every file";
  const std::string path = Write("{}");
  ASSERT_EQ(chmod(path.c_str(), 0), 0);
  EXPECT_THAT([&] { ReadConfigFile(path, Flags()); },
              ThrowsMessage<UsageError>(HasSubstr("cannot be read")));
}

TEST_F(ConfigFile, IsAtMostOneMebibyte) {
  const std::string padding(kLargestConfigFile - 2, ' ');
  EXPECT_NO_THROW(ReadConfigFile(Write("{}" + padding), Flags()));
  EXPECT_THAT([&] { ReadConfigFile(Write("{} " + padding), Flags()); },
              ThrowsMessage<UsageError>(HasSubstr("is larger than 1 MiB")));
}

}  // namespace
}  // namespace mailbench
