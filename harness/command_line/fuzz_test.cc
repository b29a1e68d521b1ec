// The corpus and 100,000 seeded mutations of it, in one process.
#include "harness/command_line/fuzz.h"

#include <algorithm>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace mailbench {
namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr int kMutations = 10'000;  // ten times slower
#else
constexpr int kMutations = 100'000;
#endif
constexpr std::size_t kLongestInput = 8192;

struct Seed {
  std::string name;
  std::string bytes;
};

bool IsGood(const Seed& seed) { return seed.name.starts_with("good_"); }

std::vector<Seed> Corpus() {
  std::vector<Seed> corpus;
  for (const auto& entry : std::filesystem::directory_iterator(MAILBENCH_CORPUS)) {
    std::ifstream file(entry.path(), std::ios::binary);
    corpus.push_back({entry.path().filename(), {std::istreambuf_iterator<char>(file), {}}});
  }
  std::sort(corpus.begin(), corpus.end(),
            [](const Seed& a, const Seed& b) { return a.name < b.name; });
  return corpus;
}

FuzzOutcome RunFuzz(const std::string& bytes) {
  return FuzzOne(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
}

// Changes inputs in the ways that find faults in parsers. The same on every machine: only the
// engine's raw numbers are used.
class Mutator {
 public:
  explicit Mutator(const std::vector<Seed>& corpus) : corpus_(corpus) {
    for (const Seed& seed : corpus) {
      if (IsGood(seed)) good_.push_back(seed);
    }
  }

  std::string Next() {
    const std::vector<Seed>& seeds = Below(2) == 0 ? corpus_ : good_;
    std::string bytes = seeds[Below(seeds.size())].bytes;
    for (std::size_t change = 0, changes = 1 + Below(3); change < changes; ++change) Change(bytes);
    bytes.resize(std::min(bytes.size(), kLongestInput));
    return bytes;
  }

 private:
  std::size_t Below(std::size_t bound) { return bound == 0 ? 0 : engine_() % bound; }

  void Change(std::string& bytes) {
    static constexpr const char* kTokens[] = {"\n--",
                                              "=",
                                              ",",
                                              "\"",
                                              "{",
                                              "}",
                                              "[",
                                              "]",
                                              ":",
                                              "null",
                                              "true",
                                              "-",
                                              "0",
                                              "16",
                                              "1e9",
                                              "K",
                                              "G",
                                              "%\n{",
                                              "$",
                                              "--bytes\n",
                                              "\"bytes\":",
                                              "18446744073709551616",
                                              "\xff",
                                              "\\u0000",
                                              "\n-b\n",
                                              "\"min-bytes\":",
                                              "\n--help\n",
                                              "99999",
                                              "512K",
                                              "\"capacity\":",
                                              "\n--json\nx\n"};
    const std::size_t at = Below(bytes.size() + 1);
    switch (Below(7)) {
      case 0:
        if (at < bytes.size()) bytes[at] = static_cast<char>(engine_());
        break;
      case 1:
        bytes.insert(at, 1, static_cast<char>(engine_()));
        break;
      case 2:
        bytes.erase(at, 1 + Below(8));
        break;
      case 3:
        bytes.insert(at, bytes.substr(Below(bytes.size() + 1), Below(64)));
        break;
      case 4:
        bytes.insert(at, kTokens[Below(std::size(kTokens))]);
        break;
      case 5: {
        const std::size_t digit = bytes.find_first_of("0123456789", at);
        if (digit != std::string::npos) bytes[digit] = static_cast<char>('0' + Below(10));
        break;
      }
      default: {
        const std::string& other = corpus_[Below(corpus_.size())].bytes;
        bytes = bytes.substr(0, at) + other.substr(Below(other.size() + 1));
        break;
      }
    }
  }

  const std::vector<Seed>& corpus_;
  std::vector<Seed> good_;
  std::mt19937_64 engine_{20240229};
};

TEST(Fuzz, CorpusIsAcceptedOrRefusedAsItsNameSays) {
  const std::vector<Seed> corpus = Corpus();
  ASSERT_GE(corpus.size(), 60u);
  for (const Seed& seed : corpus) {
    SCOPED_TRACE(seed.name);
    FuzzOutcome outcome{};
    ASSERT_NO_THROW(outcome = RunFuzz(seed.bytes));
    ASSERT_TRUE(IsGood(seed) || seed.name.starts_with("bad_"));
    EXPECT_EQ(outcome == FuzzOutcome::kAccepted, IsGood(seed));
  }
}

TEST(Fuzz, MutationsAreAcceptedOrRefused) {
  const std::vector<Seed> corpus = Corpus();
  Mutator mutator(corpus);
  int accepted = 0;
  for (int i = 0; i < kMutations; ++i) {
    const std::string bytes = mutator.Next();
    try {
      if (RunFuzz(bytes) == FuzzOutcome::kAccepted) ++accepted;
    } catch (const std::exception& error) {
      FAIL() << error.what() << "\nmutation " << i << ": " << ::testing::PrintToString(bytes);
    }
  }
  // Both outcomes are common: mutations reach past the syntax.
  EXPECT_GT(accepted, kMutations / 20);
  EXPECT_LT(accepted, kMutations / 2);
}

}  // namespace
}  // namespace mailbench
