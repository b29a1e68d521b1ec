#include "src/lamport_all_gather/gather_verifier.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "kernels/machine/host/stream.h"
#include "kernels/stress/host_gather_check.h"

namespace mailbench {
namespace {

// Without what was wrong: that is read only as far as it was written.
constexpr std::size_t kLogHeadBytes = offsetof(CallLog, wrong);

// Stretches of `packs[i]` packs of call i.
std::vector<WorkItem> Items(std::span<const std::int64_t> packs) {
  std::vector<WorkItem> items;
  for (std::size_t call = 0; call < packs.size(); ++call) {
    for (std::int64_t first = 0; first < packs[call]; first += kItemPacks) {
      items.push_back({first, static_cast<std::int32_t>(call)});
    }
  }
  return items;
}

WrongWord ToWrongWord(const WrongCall& logged, int rank) {
  WrongWord wrong;
  wrong.call = logged.call;
  wrong.rank = rank;
  wrong.source = logged.source;
  wrong.pack = logged.pack;
  wrong.word = static_cast<int>(logged.word);
  wrong.expected = logged.expected;
  std::copy_n(logged.seen, wrong.seen.size(), wrong.seen.begin());
  return wrong;
}

}  // namespace

GatherVerifier::GatherVerifier(Executor& executor, const CheckedBatch& common,
                               std::span<const CheckedCall> calls, std::span<const int> batches,
                               Origin origin)
    : executor_(executor), origin_(std::move(origin)) {
  memory_.push_back(executor_.Allocate(sizeof(CallLog)));
  log_ = reinterpret_cast<CallLog*>(memory_.back()->data());
  for (const int count : batches) {
    const std::span<const CheckedCall> of_batch = calls.first(static_cast<std::size_t>(count));
    calls = calls.subspan(of_batch.size());
    std::vector<std::int64_t> inputs;
    std::vector<std::int64_t> outputs;
    for (const CheckedCall& call : of_batch) {
      inputs.push_back(call.packs);
      outputs.push_back(common.ranks * call.packs);
      executor_.FillWords(reinterpret_cast<std::byte*>(call.output), kPoison,
                          static_cast<std::size_t>(outputs.back() * kPackWords));
    }
    const std::vector<WorkItem> fill = Items(inputs);
    const std::vector<WorkItem> check = Items(outputs);
    CheckedBatch& batch = batches_.emplace_back(common);
    batch.count = count;
    batch.calls = Keep(of_batch);
    batch.fill_items = Keep(std::span(fill));
    batch.fill_count = static_cast<int>(fill.size());
    batch.check_items = Keep(std::span(check));
    batch.check_count = static_cast<int>(check.size());
    batch.log = log_;
    memory_.push_back(executor_.Allocate(of_batch.size() * sizeof(std::uint32_t)));
    batch.wrong_words = reinterpret_cast<std::uint32_t*>(memory_.back()->data());
  }
}

template <class T>
const T* GatherVerifier::Keep(std::span<const T> values) {
  memory_.push_back(executor_.Allocate(values.size_bytes()));
  executor_.CopyIn(memory_.back()->data(), std::as_bytes(values));
  return reinterpret_cast<const T*>(memory_.back()->data());
}

void GatherVerifier::StartAt(std::uint64_t call) {
  CallLog log;
  std::fill_n(reinterpret_cast<std::byte*>(&log), kLogHeadBytes, std::byte{});
  log.next_call = call;
  executor_.CopyIn(reinterpret_cast<std::byte*>(log_),
                   std::as_bytes(std::span(&log, 1)).first(kLogHeadBytes));
}

void GatherVerifier::Plant(const PlantedFault& fault) {
  for (CheckedBatch& batch : batches_) batch.planted = fault;
}

void GatherVerifier::Enqueue(int batch, OnGpu on_gpu, OnHost on_host) {
  const CheckedBatch& enqueued = batches_[static_cast<std::size_t>(batch)];
  if (executor_.gpu() != nullptr) {
    on_gpu(executor_, enqueued);
  } else {
    executor_.host_stream()->LaunchAside([enqueued, on_host](GridRunner&) { on_host(enqueued); });
  }
}

void GatherVerifier::EnqueueFill(int batch) { Enqueue(batch, EnqueueFillOnGpu, FillInputsOnHost); }

void GatherVerifier::EnqueueVerify(int batch) {
  Enqueue(batch, EnqueueCheckOnGpu, CheckOutputsOnHost);
}

Verdict GatherVerifier::Take() {
  CallLog log;
  const auto bytes = std::as_writable_bytes(std::span(&log, 1));
  const auto* from = reinterpret_cast<const std::byte*>(log_);
  executor_.CopyOut(bytes.first(kLogHeadBytes), from);
  const std::size_t logged = std::min(log.wrong_calls, kMostWrongCalls);
  if (logged > 0) {
    executor_.CopyOut(bytes.subspan(kLogHeadBytes, logged * sizeof(WrongCall)),
                      from + kLogHeadBytes);
  }
  Verdict verdict = {log.compared, log.mismatches, log.wrong_calls, {}};
  for (std::size_t i = 0; i < logged; ++i) {
    verdict.wrong.push_back(ToWrongWord(log.wrong[i], batches_.front().rank));
  }
  std::sort(verdict.wrong.begin(), verdict.wrong.end(),
            [](const WrongWord& a, const WrongWord& b) { return a.call < b.call; });
  StartAt(log.next_call);
  return verdict;
}

}  // namespace mailbench
