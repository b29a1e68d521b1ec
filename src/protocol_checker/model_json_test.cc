#include "src/protocol_checker/model_json.h"

#include <gtest/gtest.h>

#include "harness/error.h"

namespace mailbench {
namespace {

SavedSchedule Sample() {
  SavedSchedule saved;
  saved.protocol = "lamport";
  saved.rules = {true, false, 2, false, 3, true};
  saved.finding.scenario = {3, {1, 2, 4}, 2, false, 2, true, 4};
  saved.finding.schedule = {StrategyKind::kPct, ~std::uint64_t{0}, 12, 345, {6, 7}};
  saved.finding.violation = {Property::kOverrun, "what \"happened\"", "", {}, 0};
  return saved;
}

TEST(ModelJsonTest, ASavedScheduleIsReadAsItWas) {
  const std::string text = SavedScheduleText(Sample());
  const SavedSchedule read = ReadSavedSchedule(text, "file");
  EXPECT_EQ(read.finding.schedule.seed, ~std::uint64_t{0});
  EXPECT_EQ(read.finding.schedule.delays, (std::vector<std::uint64_t>{6, 7}));
  EXPECT_EQ(read.finding.violation.property, Property::kOverrun);
  EXPECT_EQ(SavedScheduleText(read), text);
}

TEST(ModelJsonTest, EverythingElseIsRefused) {
  const Json valid = Json::parse(SavedScheduleText(Sample()));
  std::vector<std::string> bad = {"", "[]", "null", "{}", SavedScheduleText(Sample()) + "x"};
  for (const char* patch : {
           R"([{"op": "remove", "path": "/scenario/ranks"}])",
           R"([{"op": "replace", "path": "/scenario/ranks", "value": 0}])",
           R"([{"op": "replace", "path": "/scenario/ranks", "value": 9}])",
           R"([{"op": "replace", "path": "/scenario/ranks", "value": "2"}])",
           R"([{"op": "replace", "path": "/scenario/sizes", "value": []}])",
           R"([{"op": "replace", "path": "/scenario/sizes", "value": [0]}])",
           R"([{"op": "replace", "path": "/scenario/sizes", "value": [65]}])",
           R"([{"op": "replace", "path": "/scenario/threads", "value": 0}])",
           R"([{"op": "replace", "path": "/scenario/threads", "value": 9}])",
           R"([{"op": "replace", "path": "/scenario/streams", "value": 0}])",
           R"([{"op": "replace", "path": "/scenario/streams", "value": 65}])",
           R"([{"op": "replace", "path": "/scenario/producer", "value": 1}])",
           R"([{"op": "replace", "path": "/scenario/replays", "value": 0}])",
           R"([{"op": "replace", "path": "/scenario/replays", "value": 5}])",
           R"([{"op": "replace", "path": "/scenario/publish", "value": "pigeon"}])",
           R"([{"op": "replace", "path": "/rules/lag", "value": -1}])",
           R"([{"op": "replace", "path": "/rules/lag", "value": 65}])",
           R"([{"op": "replace", "path": "/rules/resident_ctas", "value": 1001}])",
           R"([{"op": "replace", "path": "/rules/shared_gpu", "value": 1}])",
           R"([{"op": "replace", "path": "/schedule/strategy", "value": "guess"}])",
           R"([{"op": "remove", "path": "/schedule/delays"}])",
           R"([{"op": "replace", "path": "/property", "value": "luck"}])",
       }) {
    bad.push_back(valid.patch(Json::parse(patch)).dump());
  }
  for (const std::string& text : bad) {
    try {
      ReadSavedSchedule(text, "the-file");
      ADD_FAILURE() << "read: " << text;
    } catch (const UsageError& error) {
      EXPECT_NE(std::string(error.what()).find("the-file"), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace mailbench
