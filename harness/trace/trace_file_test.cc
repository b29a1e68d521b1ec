#include "harness/trace/trace_file.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "harness/error.h"

namespace mailbench {
namespace {

using nlohmann::json;

TraceTimes Times(std::uint64_t start) {
  TraceTimes times;
  times.start = start;
  times.published = start + 300;
  times.first_arrival = start + 250;
  times.arrived = {start + 250, start + 1200};
  times.awaited_for = {0, start + 1200};
  times.done = start + 1400;
  return times;
}

PointKey Key(const std::string& algorithm) {
  PointKey key;
  key.collective = "gather";
  key.algorithm = algorithm;
  key.transport = "host";
  key.mode = "graph";
  key.shape.variables = {{"bytes", 16}};
  key.ranks = 2;
  return key;
}

// Two ranks; rank 1's clock is a second ahead, and it starts 100 ns later.
PointTrace Trace() {
  PointTrace trace;
  trace.ctas = 7;
  trace.step_ns = 32;
  trace.ranks.push_back({"a", {0, 32}, {{Times(5'000'000'000), {Times(5'000'000'000)}}}});
  trace.ranks.push_back(
      {"b", {-1'000'000'000, 700}, {{Times(6'000'000'100), {Times(6'000'000'100)}}}});
  return trace;
}

json Find(const json& file, int rank, int thread, const std::string& name, int nth = 0) {
  for (const json& event : file["traceEvents"]) {
    if (event["pid"] == rank && event.value("tid", -1) == thread && event["name"] == name &&
        nth-- == 0) {
      return event;
    }
  }
  return nullptr;
}

TEST(TraceFile, RanksAreProcessesAndCtasThreads) {
  TraceFile trace("mailbench 1", "gather");
  trace.Add(Key("lamport"), Trace());
  const json file = json::parse(trace.Text());
  std::map<int, std::string> processes;
  std::map<std::pair<int, int>, std::string> threads;
  for (const json& event : file["traceEvents"]) {
    if (event["ph"] != "M") continue;
    const std::string name = event["args"]["name"];
    if (event["name"] == "process_name") processes[event["pid"]] = name;
    if (event["name"] == "thread_name") threads[{event["pid"], event["tid"]}] = name;
  }
  EXPECT_EQ(processes, (std::map<int, std::string>{{0, "rank 0"}, {1, "rank 1"}}));
  EXPECT_EQ(
      threads,
      (std::map<std::pair<int, int>, std::string>{
          {{0, 0}, "whole call"}, {{0, 1}, "CTA 0"}, {{1, 0}, "whole call"}, {{1, 1}, "CTA 0"}}));
}

TEST(TraceFile, TimesAreOnRankZerosClock) {
  TraceFile trace("mailbench 1", "gather");
  trace.Add(Key("lamport"), Trace());
  const json file = json::parse(trace.Text());
  EXPECT_DOUBLE_EQ(Find(file, 0, 0, "call 0")["ts"], 0);
  EXPECT_DOUBLE_EQ(Find(file, 1, 0, "call 0")["ts"], 0.1);
  for (const int thread : {0, 1}) {
    EXPECT_DOUBLE_EQ(Find(file, 1, thread, "call 0")["dur"], 1.4);
    EXPECT_DOUBLE_EQ(Find(file, 1, thread, "publish")["dur"], 0.3);
    EXPECT_DOUBLE_EQ(Find(file, 1, thread, "wait")["ts"], 0.4);
    EXPECT_DOUBLE_EQ(Find(file, 1, thread, "wait")["dur"], 0.9);
    EXPECT_DOUBLE_EQ(Find(file, 1, thread, "collect")["ts"], 1.3);
    EXPECT_DOUBLE_EQ(Find(file, 1, thread, "first arrival")["ts"], 0.35);
  }
  const json last = Find(file, 1, 0, "last of rank 1");
  EXPECT_EQ(last["cat"], "lamport");
  EXPECT_EQ(
      last["args"],
      (json{
          {"point", ToString(Key("lamport"))}, {"call", 0}, {"source", 1}, {"waited_for", true}}));
  const json& point = file["otherData"]["points"][0];
  EXPECT_EQ(point["clocks"][1],
            (json{{"rank", 1}, {"clock", "b"}, {"offset_ns", -1'000'000'000}, {"error_ns", 700}}));
  EXPECT_EQ(point["ctas"], 7);
  EXPECT_EQ(point["ctas_shown"], 1);
}

TEST(TraceFile, PointsFollowEachOther) {
  TraceFile trace("mailbench 1", "gather");
  trace.Add(Key("lamport"), Trace());
  trace.Add(Key("overlapped"), Trace());
  const json file = json::parse(trace.Text());
  EXPECT_DOUBLE_EQ(Find(file, 0, 0, "call 0", 1)["ts"], 11.5);
  EXPECT_EQ(Find(file, 0, 0, "call 0", 1)["cat"], "overlapped");
  EXPECT_DOUBLE_EQ(file["otherData"]["points"][1]["starts_us"], 11.5);
}

// Twenty calls of so many ranks, of which the last comes last.
PointTrace TraceOf(int ranks) {
  PointTrace trace;
  trace.ctas = 512;
  for (int rank = 0; rank < ranks; ++rank) {
    RankTrace& its = trace.ranks.emplace_back();
    for (std::uint64_t call = 0; call < 20; ++call) {
      TraceTimes times = Times(5000 * (call + 1));
      times.arrived.assign(static_cast<std::size_t>(ranks), times.first_arrival);
      times.arrived.back() = times.done - 200;
      times.awaited_for.assign(static_cast<std::size_t>(ranks), 0);
      const auto ctas = static_cast<std::size_t>(ShownOf(trace.ctas, ranks, 20).ctas);
      its.calls.push_back({times, std::vector<TraceTimes>(ctas, times)});
    }
  }
  return trace;
}

TEST(TraceFile, APointOfManyRanksIsBounded) {
  for (const int ranks : {2, 8, 16, 17, 20, 21, 36, 72, 83}) {
    TraceFile trace("mailbench 1", "gather");
    trace.Add(Key("lamport"), TraceOf(ranks));
    const json file = json::parse(trace.Text());
    const json& cap = file["otherData"]["most_events_of_a_point"];
    EXPECT_EQ(cap, 20'000);
    std::map<int, int> events;  // by thread
    for (const json& event : file["traceEvents"]) {
      events[event.value("tid", 0)] += event["ph"] != "M";
    }
    EXPECT_LE(std::accumulate(events.begin(), events.end(), 0,
                              [](int sum, const auto& each) { return sum + each.second; }),
              cap)
        << ranks;
    EXPECT_GE(events.size(), 2u) << "the whole call and a CTA, " << ranks;
    const int last_arrivals = ranks <= 20 ? ranks : 1;
    EXPECT_EQ(events[0], ranks * 20 * (5 + last_arrivals));
    EXPECT_EQ(events[1], events[0]);
    EXPECT_EQ(file["otherData"]["points"][0]["arrivals_shown"],
              ranks <= 20 ? "first, and last of each rank" : "first and last");
    const json last = Find(file, 0, 1, "last of rank " + std::to_string(ranks - 1));
    EXPECT_DOUBLE_EQ(last["ts"], 1.2) << ranks;
  }
}

TEST(TraceFile, WithoutPointsIsStillJson) {
  const json file = json::parse(TraceFile("mailbench 1", "gather").Text());
  EXPECT_TRUE(file["traceEvents"].empty());
  EXPECT_TRUE(file["otherData"]["points"].empty());
}

TEST(TraceFile, IsThereAsAWholeOrNotAtAll) {
  const std::filesystem::path directory =
      std::filesystem::path(testing::TempDir()) / "trace_file_test";
  std::filesystem::remove_all(directory);
  std::filesystem::create_directory(directory);
  const std::string path = directory / "trace.json";
  RequireTraceable(path, false);
  EXPECT_TRUE(std::filesystem::is_empty(directory));
  const TraceFile trace("mailbench 1", "gather");
  trace.Write(path);
  std::ifstream in(path);
  EXPECT_EQ(json::parse(in)["displayTimeUnit"], "ns");
  EXPECT_THROW(RequireTraceable(path, false), UsageError);
  EXPECT_NO_THROW(RequireTraceable(path, true));
  EXPECT_THROW(RequireTraceable(directory, true), UsageError);
  EXPECT_THROW(RequireTraceable(directory / "missing/trace.json", true), UsageError);
  EXPECT_THROW(trace.Write(directory / "missing/trace.json"), SystemError);
  std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace mailbench
