#include "harness/stress/stress_run.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "harness/measure/l2.h"
#include "harness/stress/pattern.h"
#include "harness/validate/over_ranks.h"
#include "harness/watchdog/step.h"

namespace mailbench {
namespace {

// Of a graph, with the sizes that it was recorded for.
constexpr int kReplays = 8;
// How often what has been found is put on record.
constexpr std::uint64_t kObservations = 16;

constexpr std::uint64_t kNone = std::numeric_limits<std::uint64_t>::max();

// What this rank has found.
struct Found {
  CheckResult check;
  std::uint64_t first_call = kNone;  // that had a wrong word
  std::vector<std::uint64_t> wrong;  // calls, since the ranks last told each other
};

class Stress {
 public:
  Stress(StressRecord record, Instance& instance, CallCounter& calls, const MeasureContext& context)
      : record_(std::move(record)),
        instance_(instance),
        calls_(calls),
        context_(context),
        sizes_(record_.shapes, context.config.seed),
        start_(std::chrono::steady_clock::now()) {}

  void Round(StressPattern pattern) {
    std::vector<Shape> shapes = sizes_.Graph(pattern, record_.calls_per_graph, kOutputBudgetBytes);
    const int in_graph = static_cast<int>(shapes.size());
    const int before = in_graph;
    const int after = in_graph + 1;
    for (int i = 0; i < 2; ++i) shapes.push_back(sizes_.Any());
    instance_.Bind(shapes);
    const std::unique_ptr<Graph> graph = context_.executor.Record([&] {
      for (int slot = 0; slot < in_graph; ++slot) instance_.Enqueue(slot);
    });
    const int slots = static_cast<int>(shapes.size());
    for (int replay = 0; replay < kReplays && !Done(); ++replay) {
      const std::uint64_t first = Fill(slots);
      // As in MeasurePoint: nobody prepares a call beside the calls of a peer on the same GPU.
      context_.ranks.Barrier();
      context_.executor.Time(slots, [&] {
        instance_.Enqueue(before);
        graph->Replay();
        instance_.Enqueue(after);
      });
      Verify(slots, first);
    }
  }

  std::uint64_t calls() const { return record_.calls; }
  bool Done() const { return record_.calls >= record_.calls_wanted; }

  void Audit() {
    found_.check.Add(AuditTogether(instance_, context_.ranks));
    record_.finished = true;
  }

  // Collective.
  const StressRecord& Observe() {
    record_.wrong_calls += CountWrongCalls();
    const std::string own = std::exchange(found_.check.first, TextOfFirst());
    record_.check = OverRanks(found_.check, context_.ranks);
    found_.check.first = own;
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start_;
    record_.seconds = context_.ranks.Max(taken.count());
    return record_;
  }

 private:
  // Returns the number of the first call.
  std::uint64_t Fill(int slots) {
    std::uint64_t first = 0;
    for (int slot = 0; slot < slots; ++slot) {
      const std::uint64_t call = calls_.Next();
      if (slot == 0) first = call;
      instance_.Fill(slot, call);
    }
    return first;
  }

  void Verify(int slots, std::uint64_t first) {
    for (int slot = 0; slot < slots; ++slot) {
      const CheckResult result = instance_.Verify(slot, found_.first_call == kNone);
      found_.check.Add(result);
      if (result.passed()) continue;
      const std::uint64_t call = first + static_cast<std::uint64_t>(slot);
      found_.first_call = std::min(found_.first_call, call);
      found_.wrong.push_back(call);
    }
    record_.calls += static_cast<std::uint64_t>(slots);
  }

  // Collective. A call counts once, on however many ranks it was wrong.
  std::uint64_t CountWrongCalls() {
    std::string own;
    for (const std::uint64_t call : found_.wrong) own += std::to_string(call) + ' ';
    found_.wrong.clear();
    std::set<std::string> all;
    for (const std::string& text : context_.ranks.Gather(own)) {
      for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = text.find(' ', at);
        all.insert(text.substr(at, end - at));
        at = end + 1;
      }
    }
    return all.size();
  }

  // Collective. This rank's story where it is about the earliest call that was wrong anywhere, or
  // where no call was: then it is about a word that the audit found.
  std::string TextOfFirst() const {
    const std::vector<double> firsts =
        context_.ranks.Gather(static_cast<double>(found_.first_call));
    const double earliest = *std::min_element(firsts.begin(), firsts.end());
    return static_cast<double>(found_.first_call) == earliest ? found_.check.first : "";
  }

  StressRecord record_;
  Instance& instance_;
  CallCounter& calls_;
  const MeasureContext& context_;
  SizeDraw sizes_;
  std::chrono::steady_clock::time_point start_;
  Found found_;
};

}  // namespace

StressRecord RunStress(StressRecord record, std::uint32_t index, Instance& instance,
                       CallCounter& calls, const MeasureContext& context,
                       const StressObserver& observer) {
  context.heartbeat.Enter(Phase::kStress, index);
  const std::string algorithm = record.algorithm;
  const Step named(algorithm.c_str());
  const std::uint64_t wanted = record.calls_wanted;
  for (const StressPattern pattern : kStressPatterns) record.patterns.push_back(ToString(pattern));
  Stress stress(std::move(record), instance, calls, context);
  std::uint64_t observed = 0;
  std::size_t round = 0;
  while (!stress.Done()) {
    stress.Round(kStressPatterns[round++ % std::size(kStressPatterns)]);
    const std::uint64_t due = stress.calls() * kObservations / wanted;
    if (due == observed || stress.Done()) continue;
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
