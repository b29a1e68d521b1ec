#include "harness/stress/stress_run.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "harness/error.h"
#include "harness/measure/statistics.h"
#include "harness/ranks/vote_on.h"
#include "harness/stress/call_verifier.h"
#include "harness/stress/round.h"
#include "harness/stress/wrong_calls.h"
#include "harness/validate/over_ranks.h"
#include "harness/watchdog/step.h"

namespace mailbench {
namespace {

// How often what has been found is put on record.
constexpr std::uint64_t kObservations = 16;
// A rank waits for its device after about so long, so that the watchdog sees it move.
constexpr double kPieceSeconds = 0.25;
// What a call takes by itself is the median of the first rounds.
constexpr std::size_t kBareRounds = 5;
constexpr int kBareReplays = 5;
constexpr std::size_t kWrongWordsKept = 8;

double SecondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

class Stress {
 public:
  Stress(StressRecord record, Instance& instance, CallCounter& calls, const MeasureContext& context)
      : record_(std::move(record)),
        instance_(instance),
        calls_(calls),
        context_(context),
        draw_(record_.shapes, record_.calls_per_graph, context.ranks.size(), context.config.seed),
        round_calls_(CallsOfARound(record_.calls_wanted)),
        start_(std::chrono::steady_clock::now()) {
    VoteOn(context_.ranks, ExitCode::kMachine,
           [&] { spin_state_ = context_.executor.Allocate(sizeof(RoundSkew::spin_seed)); });
  }

  // True, on every rank alike: something was wrong that nobody has heard of yet.
  bool Round() {
    const StressRound round =
        draw_.Next(std::min(round_calls_, record_.calls_wanted - record_.calls));
    instance_.Bind(round.shapes);
    if (bare_us_.size() < kBareRounds) ReplayBare(round);
    const auto verifier = instance_.MakeVerifier(round.batches);
    if (verifier == nullptr) {
      throw UsageError(record_.collective + " has no stress: its calls cannot be verified");
    }
    verifier->StartAt(calls_.Take(round.calls));
    context_.executor.CopyIn(spin_state_->data(),
                             std::as_bytes(std::span(&round.skew.spin_seed, 1)));
    std::vector<std::unique_ptr<Graph>> graphs;
    for (int graph = 0; graph < static_cast<int>(kStressGraphs); ++graph) {
      graphs.push_back(RecordVerified(round, graph, *verifier));
    }
    // As in MeasurePoint: nobody prepares a call beside the calls of a peer on the same GPU.
    context_.ranks.Barrier();
    Make(round, graphs, *verifier);
    const bool wrong = Add(verifier->Take(), *verifier);
    record_.calls += round.calls;
    call_seconds_ = context_.ranks.Max(made_seconds_) / static_cast<double>(record_.calls);
    return context_.ranks.Max(wrong ? 1 : 0) > 0;
  }

  std::uint64_t calls() const { return record_.calls; }
  bool Done() const { return record_.calls >= record_.calls_wanted; }

  void Audit() {
    check_.Add(AuditTogether(instance_, context_.ranks));
    record_.finished = true;
  }

  // Collective.
  const StressRecord& Observe() {
    record_.wrong_calls += CountOverRanks(std::exchange(wrong_calls_, {}), context_.ranks);
    const auto untold = static_cast<double>(std::exchange(untold_wrong_calls_, 0));
    record_.wrong_calls += static_cast<std::uint64_t>(context_.ranks.Max(untold));
    record_.wrong_calls = std::min(record_.wrong_calls, record_.calls);
    record_.wrong = FirstOverRanks(wrong_, kWrongWordsKept, context_.ranks);
    record_.check = OverRanks(check_, context_.ranks);
    if (!record_.wrong.empty()) record_.check.first = Describe(record_.wrong.front());
    record_.seconds = context_.ranks.Max(SecondsSince(start_));
    record_.verified_us = call_seconds_ * 1e6;
    return record_;
  }

 private:
  void EnqueueCall(const StressRound& round, int slot) {
    if (round.skew.spinning_rank == context_.ranks.rank() &&
        round.skew.spins[static_cast<std::size_t>(slot)]) {
      context_.executor.EnqueueDrawnDelay(spin_state_->data());
    }
    instance_.Enqueue(slot);
  }

  std::unique_ptr<Graph> RecordVerified(const StressRound& round, int graph,
                                        CallVerifier& verifier) {
    const int first = round.FirstSlot(graph);
    const int end = round.FirstSlot(graph + 1);
    return context_.executor.Record([&] {
      verifier.EnqueueFill(graph);
      for (int slot = first; slot < end; ++slot) {
        EnqueueCall(round, slot);
      }
      verifier.EnqueueVerify(graph);
    });
  }

  // What the calls of the round's graphs take by themselves.
  void ReplayBare(const StressRound& round) {
    const Step step("replays without verification");
    double seconds = 0;
    int calls = 0;
    for (int graph = 0; graph < static_cast<int>(kStressGraphs); ++graph) {
      const int in_graph = round.batches[static_cast<std::size_t>(graph)];
      const int first = round.FirstSlot(graph);
      const std::unique_ptr<Graph> bare = context_.executor.Record([&] {
        for (int slot = first; slot < first + in_graph; ++slot) instance_.Enqueue(slot);
      });
      for (const int replays : {1, kBareReplays}) {  // the first is slower than others
        context_.ranks.Barrier();
        const double taken = context_.executor.Time(replays * in_graph, [&] {
          for (int replay = 0; replay < replays; ++replay) bare->Replay();
        });
        if (replays > 1) seconds += taken;
      }
      calls += kBareReplays * in_graph;
    }
    const double call_seconds = context_.ranks.Max(seconds) / calls;
    if (bare_us_.empty()) call_seconds_ = call_seconds;
    bare_us_.push_back(call_seconds * 1e6);
    record_.bare_us = Summarize(bare_us_).p50;
  }

  void Sleep(const RoundSkew& skew) const {
    // Late, not gone.
    const std::chrono::duration<double> most(context_.config.timeout_seconds / 4);
    std::this_thread::sleep_for(std::min<std::chrono::duration<double>>(skew.late_by, most));
  }

  void MakeStep(const StressRound& round, std::size_t step,
                const std::vector<std::unique_ptr<Graph>>& graphs, CallVerifier& verifier) {
    if (round.skew.late_rank == context_.ranks.rank() && round.skew.late_step == step) {
      Sleep(round.skew);
    }
    const int batch = round.steps[step];
    if (batch < static_cast<int>(kStressGraphs)) {
      graphs[static_cast<std::size_t>(batch)]->Replay();
      return;
    }
    verifier.EnqueueFill(batch);
    EnqueueCall(round, round.FirstSlot(batch));
    verifier.EnqueueVerify(batch);
  }

  // In pieces that are the same on every rank, so that the watchdog, which hears of a piece when it
  // is enqueued, can tell who is behind.
  void Make(const StressRound& round, const std::vector<std::unique_ptr<Graph>>& graphs,
            CallVerifier& verifier) {
    const double most_calls = kPieceSeconds / std::max(call_seconds_, 1e-9);
    for (std::size_t step = 0; step < round.steps.size();) {
      std::size_t end = step;
      int calls = 0;
      do {
        calls += round.batches[static_cast<std::size_t>(round.steps[end++])];
      } while (end < round.steps.size() && calls < most_calls);
      made_seconds_ += context_.executor.Time(calls, [&] {
        for (; step < end; ++step) MakeStep(round, step, graphs, verifier);
      });
    }
  }

  // Whether anything was wrong.
  bool Add(Verdict verdict, const CallVerifier& verifier) {
    check_.compared += verdict.compared;
    check_.mismatches += verdict.mismatches;
    // More than a log holds: they count, without a number that other ranks could know.
    untold_wrong_calls_ += verdict.wrong_calls - verdict.wrong.size();
    for (WrongWord& wrong : verdict.wrong) {
      wrong_calls_.push_back(wrong.call);
      if (wrong_.size() >= kWrongWordsKept) continue;
      verifier.FindOrigin(&wrong);
      wrong_.push_back(std::move(wrong));
    }
    return verdict.mismatches > 0;
  }

  StressRecord record_;
  Instance& instance_;
  CallCounter& calls_;
  const MeasureContext& context_;
  RoundDraw draw_;
  std::uint64_t round_calls_;
  std::chrono::steady_clock::time_point start_;
  // What this rank has found.
  CheckResult check_;
  std::vector<std::uint64_t> wrong_calls_;  // since the ranks last told each other
  std::uint64_t untold_wrong_calls_ = 0;
  std::vector<WrongWord> wrong_;
  std::unique_ptr<Buffer> spin_state_;  // of the delays that are drawn where the calls run
  std::vector<double> bare_us_;         // by round
  double made_seconds_ = 0;
  double call_seconds_ = 0;  // of the slowest rank, the same on every rank
};

}  // namespace

StressRecord RunStress(StressRecord record, std::uint32_t index, Instance& instance,
                       CallCounter& calls, const MeasureContext& context,
                       const StressObserver& observer) {
  context.heartbeat.Enter(Phase::kStress, index);
  const std::uint64_t wanted = record.calls_wanted;
  Stress stress(std::move(record), instance, calls, context);
  std::uint64_t observed = 0;
  while (!stress.Done()) {
    const bool wrong = stress.Round();
    const std::uint64_t due = stress.calls() * kObservations / wanted;
    if ((due == observed && !wrong) || stress.Done()) continue;
    observed = due;
    observer(stress.Observe());
  }
  const Step step("the audit");
  stress.Audit();
  StressRecord last = stress.Observe();
  observer(last);
  return last;
}

}  // namespace mailbench
