#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <vector>

#include "kernels/stress/host_gather_check.h"

namespace mailbench {
namespace {

using testing::Each;

constexpr std::uint64_t kSeed = 11;
constexpr std::uint32_t kFrom = 0x80000000u;
constexpr std::int64_t kRowStride = 32;  // of two packs

// Calls of all ranks, and a gather that copies.
class Calls {
 public:
  Calls(int ranks, std::vector<std::int64_t> packs) : packs_(std::move(packs)) {
    for (int rank = 0; rank < ranks; ++rank) ranks_.push_back(std::make_unique<Rank>());
    for (int rank = 0; rank < ranks; ++rank) SetUp(rank);
  }

  CheckedBatch& batch(int rank) { return ranks_[static_cast<std::size_t>(rank)]->batch; }
  CallLog& log(int rank) { return ranks_[static_cast<std::size_t>(rank)]->log; }
  std::vector<Pack>& output(int rank, std::size_t call) {
    return ranks_[static_cast<std::size_t>(rank)]->outputs[call];
  }

  void Fill() {
    for (const auto& rank : ranks_) FillInputsOnHost(rank->batch);
  }
  void Gather() {
    for (const auto& to : ranks_) {
      for (std::size_t call = 0; call < packs_.size(); ++call) {
        const auto packs = static_cast<std::size_t>(packs_[call]);
        for (std::size_t source = 0; source < ranks_.size(); ++source) {
          for (std::size_t pack = 0; pack < packs; ++pack) {
            Pack& arrived = to->outputs[call][source * packs + pack];
            arrived = ranks_[source]->inputs[call][RowOf(pack)];
            for (std::uint32_t& word : arrived.word) word = to->batch.rule.Arriving(word);
          }
        }
      }
    }
  }
  void Check() {
    for (const auto& rank : ranks_) CheckOutputsOnHost(rank->batch);
  }

 private:
  // Rows of one pack, with a gap of a pack.
  static std::size_t RowOf(std::size_t pack) { return 2 * pack; }

  struct Rank {
    std::vector<std::vector<Pack>> inputs;
    std::vector<std::vector<Pack>> outputs;
    std::vector<CheckedCall> calls;
    std::vector<std::uint32_t> wrong_words;
    std::vector<WorkItem> fill_items;
    std::vector<WorkItem> check_items;
    CheckedBatch batch;
    CallLog log = {};
  };

  void SetUp(int index) {
    Rank& rank = *ranks_[static_cast<std::size_t>(index)];
    const auto ranks = static_cast<std::int64_t>(ranks_.size());
    const auto items = [](std::vector<WorkItem>* to, std::int64_t packs, std::size_t call) {
      for (std::int64_t first = 0; first < packs; first += kItemPacks) {
        to->push_back({first, static_cast<std::int32_t>(call)});
      }
    };
    for (std::size_t call = 0; call < packs_.size(); ++call) {
      rank.inputs.emplace_back(2 * static_cast<std::size_t>(packs_[call]));
      rank.outputs.emplace_back(static_cast<std::size_t>(ranks * packs_[call]));
      items(&rank.fill_items, packs_[call], call);
      items(&rank.check_items, ranks * packs_[call], call);
    }
    for (std::size_t call = 0; call < packs_.size(); ++call) {
      rank.calls.push_back({reinterpret_cast<std::byte*>(rank.inputs[call].data()),
                            rank.outputs[call].data(), packs_[call], kPackBytes, kRowStride});
    }
    rank.wrong_words.resize(packs_.size());
    rank.batch.calls = rank.calls.data();
    rank.batch.wrong_words = rank.wrong_words.data();
    rank.batch.fill_items = rank.fill_items.data();
    rank.batch.check_items = rank.check_items.data();
    rank.batch.log = &rank.log;
    rank.batch.count = static_cast<int>(packs_.size());
    rank.batch.fill_count = static_cast<int>(rank.fill_items.size());
    rank.batch.check_count = static_cast<int>(rank.check_items.size());
    rank.batch.rank = index;
    rank.batch.ranks = static_cast<int>(ranks);
    rank.batch.rule = rank.batch.own_rule = {kFrom, 0};
    rank.batch.seed = kSeed;
  }

  std::vector<std::int64_t> packs_;
  std::vector<std::unique_ptr<Rank>> ranks_;
};

TEST(GatherCheck, PassesWhatArrivedAndPoisonsIt) {
  const std::vector<std::int64_t> packs = {1, kItemPacks, kItemPacks + 1, 3};
  Calls calls(3, packs);
  std::uint64_t words = 0;
  for (const std::int64_t each : packs) words += 12 * static_cast<std::uint64_t>(each);
  for (std::uint64_t replay = 1; replay <= 3; ++replay) {
    calls.Fill();
    calls.Gather();
    calls.Check();
    for (int rank = 0; rank < 3; ++rank) {
      EXPECT_EQ(calls.log(rank).mismatches, 0u);
      EXPECT_EQ(calls.log(rank).wrong_calls, 0u);
      EXPECT_EQ(calls.log(rank).compared, replay * words);
      EXPECT_EQ(calls.log(rank).next_call, replay * packs.size());
      for (std::size_t call = 0; call < packs.size(); ++call) {
        for (const Pack& pack : calls.output(rank, call)) ASSERT_THAT(pack.word, Each(kPoison));
      }
    }
  }
}

TEST(GatherCheck, EachReplayHasPayloadsOfItsOwn) {
  Calls calls(2, {2, 5});
  calls.Fill();
  calls.Gather();
  const std::vector<Pack> first = calls.output(0, 1);
  calls.Check();
  calls.Fill();
  calls.Gather();
  EXPECT_NE(std::memcmp(first.data(), calls.output(0, 1).data(), first.size() * sizeof(Pack)), 0);
  for (std::int64_t pack = 0; pack < 5; ++pack) {
    const Payload sent(kSeed, 3, 1);  // rank 1's of the fourth call
    for (std::size_t word = 0; word < 4; ++word) {
      const std::uint32_t value = sent.word(static_cast<std::uint64_t>(pack) * 4 + word);
      EXPECT_EQ(calls.output(0, 1)[5 + static_cast<std::size_t>(pack)].word[word],
                value == kFrom ? 0 : value);
    }
  }
}

TEST(GatherCheck, TellsTheFirstWrongWordOfEachCall) {
  Calls calls(3, {2, 300, 4});
  calls.log(1).next_call = calls.log(0).next_call = calls.log(2).next_call = 40;
  calls.Fill();
  calls.Gather();
  const std::uint32_t expected = calls.output(1, 1)[2 * 300 + 299].word[2];
  calls.output(1, 1)[2 * 300 + 299].word[2] ^= 1;
  calls.output(1, 1)[2 * 300 + 299].word[3] ^= 1;
  calls.output(1, 2)[0].word[0] ^= 1;
  calls.Check();
  EXPECT_EQ(calls.log(0).mismatches + calls.log(2).mismatches, 0u);
  const CallLog& log = calls.log(1);
  EXPECT_EQ(log.mismatches, 3u);
  ASSERT_EQ(log.wrong_calls, 2u);
  EXPECT_EQ(log.wrong[0].call, 41u);
  EXPECT_EQ(log.wrong[0].source, 2);
  EXPECT_EQ(log.wrong[0].pack, 299);
  EXPECT_EQ(log.wrong[0].word, 2u);
  EXPECT_EQ(log.wrong[0].expected, expected);
  EXPECT_EQ(log.wrong[0].seen[2], expected ^ 1);
  EXPECT_EQ(log.wrong[1].call, 42u);
}

TEST(GatherCheck, FindsCallsThatWroteNothing) {
  Calls calls(2, {2, 3});
  calls.Fill();
  calls.Gather();
  calls.Check();
  calls.Fill();
  calls.Check();  // no gather
  EXPECT_EQ(calls.log(0).wrong_calls, 2u);
  EXPECT_EQ(calls.log(0).mismatches, 2u * (2 + 3) * 4);
  EXPECT_THAT(calls.log(0).wrong[0].seen, Each(kPoison));
}

TEST(GatherCheck, CountsMoreWrongCallsThanTheLogHolds) {
  Calls calls(1, std::vector<std::int64_t>(kMostWrongCalls + 7, 1));
  calls.Fill();
  calls.Check();
  EXPECT_EQ(calls.log(0).wrong_calls, kMostWrongCalls + 7);
  EXPECT_EQ(calls.log(0).wrong[kMostWrongCalls - 1].call, kMostWrongCalls - 1);
}

TEST(GatherCheck, OwnWordsMayTakeAnotherWay) {
  Calls calls(1, {200});
  calls.batch(0).rule = {};  // of what the test's gather does
  calls.Fill();
  calls.Gather();
  calls.batch(0).own_rule = {};
  calls.Check();
  EXPECT_EQ(calls.log(0).mismatches, 0u);
  calls.Fill();
  calls.Gather();
  calls.batch(0).own_rule = {kFrom, 0};
  calls.Check();
  EXPECT_GT(calls.log(0).mismatches, 0u);
}

TEST(GatherCheck, FindsThePlantedFaultInItsCallAlone) {
  Calls calls(2, {1, 2});
  calls.batch(1).planted = {3, 2, 1, 0x80};  // the second call of the second replay
  for (int replay = 0; replay < 3; ++replay) {
    calls.Fill();
    calls.Gather();
    calls.Check();
  }
  EXPECT_EQ(calls.log(0).mismatches, 0u);
  ASSERT_EQ(calls.log(1).wrong_calls, 1u);
  EXPECT_EQ(calls.log(1).mismatches, 1u);
  const WrongCall& wrong = calls.log(1).wrong[0];
  EXPECT_EQ(wrong.call, 3u);
  EXPECT_EQ(wrong.source, 1);
  EXPECT_EQ(wrong.pack, 0);
  EXPECT_EQ(wrong.word, 1u);
  EXPECT_EQ(wrong.seen[1], wrong.expected ^ 0x80);
}

}  // namespace
}  // namespace mailbench
