// Fills the inputs of all-gathers and compares their outputs where the calls run, so that calls can
// follow each other without the host: calls of one batch (of a graph, say) are filled by one
// launch, made, and checked by another. Which numbers they have is state of the device: a replayed
// graph has new payloads each time.
//
// A launch is spread over CTAs by work items, stretches of one call's packs.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/machine/annotations.h"
#include "kernels/machine/pack.h"
#include "kernels/stress/call_log.h"
#include "kernels/stress/payload.h"

namespace mailbench {

inline constexpr int kCheckThreads = 64;  // a CTA
inline constexpr std::int64_t kItemPacks = 256;

// What an algorithm does to payload words on their way: it changes one value, or none.
struct WordRule {
  std::uint32_t from = 0;
  std::uint32_t to = 0;

  MAILBENCH_HOST_DEVICE std::uint32_t Arriving(std::uint32_t word) const {
    return word == from ? to : word;
  }
};

// The memory of one call.
struct CheckedCall {
  std::byte* input = nullptr;   // rows of row_bytes, row_stride bytes apart; aligned to 4 bytes
  Pack* output = nullptr;       // [ranks][packs]
  std::int64_t packs = 0;       // of one rank
  std::int64_t row_bytes = 0;   // a multiple of 16
  std::int64_t row_stride = 0;  // a multiple of 4
};

// Up to kItemPacks packs of one call, from `first` on: of its input, or of its output.
struct WorkItem {
  std::int64_t first = 0;
  std::int32_t call = 0;  // of the batch
};

// Calls that are made one after the other. All of it is memory of the device.
struct CheckedBatch {
  const CheckedCall* calls = nullptr;    // [count]
  std::uint32_t* wrong_words = nullptr;  // [count]
  const WorkItem* fill_items = nullptr;
  const WorkItem* check_items = nullptr;
  CallLog* log = nullptr;
  int count = 0;
  int fill_count = 0;
  int check_count = 0;
  int rank = 0;
  int ranks = 0;
  WordRule rule;      // of other ranks' words
  WordRule own_rule;  // of this rank's, which may take another way
  std::uint64_t seed = 0;
  PlantedFault planted;
};

// Worker: who of how many runs this (cta, ctas, thread, threads), atomic Add, which returns what
// was there, and a barrier of the CTA.

// A worker's share of the packs of one work item: from `first`, each `threads`-th before `end`.
struct Share {
  int call = 0;              // of the batch
  std::uint64_t number = 0;  // of the call
  std::int64_t first = 0;
  std::int64_t end = 0;
};

// Calls visit(share) for each of the `count` items that are the worker's CTA's. A call has
// `blocks` times as many packs as one rank's input.
template <class Worker, class Visit>
MAILBENCH_DEVICE void ForEachItem(const Worker& worker, const CheckedBatch& batch,
                                  const WorkItem* items, int count, int blocks, Visit visit) {
  const std::uint64_t first_call = batch.log->next_call;
  for (int at = worker.cta; at < count; at += worker.ctas) {
    const WorkItem item = items[at];
    const std::int64_t packs = blocks * batch.calls[item.call].packs;
    const std::int64_t end = item.first + kItemPacks < packs ? item.first + kItemPacks : packs;
    visit(Share{item.call, first_call + static_cast<std::uint64_t>(item.call),
                item.first + worker.thread, end});
  }
}

template <class Worker>
MAILBENCH_DEVICE void FillInputs(const Worker& worker, const CheckedBatch& batch) {
  const auto fill = [&](const Share& share) {
    const CheckedCall& call = batch.calls[share.call];
    if (share.first == 0) batch.wrong_words[share.call] = 0;
    const Payload payload(batch.seed, share.number, batch.rank);
    for (std::int64_t pack = share.first; pack < share.end; pack += worker.threads) {
      const std::int64_t byte = pack * kPackBytes;
      // Its words may be all the alignment that the input has.
      auto* to = reinterpret_cast<std::uint32_t*>(
          call.input + byte / call.row_bytes * call.row_stride + byte % call.row_bytes);
      for (int word = 0; word < kPackWords; ++word) {
        to[word] = payload.word(static_cast<std::uint64_t>(pack * kPackWords + word));
      }
    }
  };
  ForEachItem(worker, batch, batch.fill_items, batch.fill_count, 1, fill);
}

template <class Worker>
MAILBENCH_DEVICE void LogWrong(const Worker& worker, const CheckedBatch& batch, int call,
                               std::uint32_t words, const WrongCall& first) {
  worker.Add(&batch.log->mismatches, std::uint64_t{words});
  if (worker.Add(&batch.wrong_words[call], words) > 0) return;  // the call is in the log already
  const std::uint32_t at = worker.Add(&batch.log->wrong_calls, std::uint32_t{1});
  if (at < kMostWrongCalls) batch.log->wrong[at] = first;
}

// Compares and poisons one pack of an output. Returns how many words were wrong.
MAILBENCH_DEVICE std::uint32_t CheckPack(const CheckedBatch& batch, const CheckedCall& call,
                                         std::uint64_t number, std::int64_t pack,
                                         WrongCall* first) {
  const auto source = static_cast<int>(pack / call.packs);
  const std::int64_t of_source = pack % call.packs;
  const Payload payload(batch.seed, number, source);
  const WordRule rule = source == batch.rank ? batch.own_rule : batch.rule;
  Pack seen = call.output[pack];
  if (number == batch.planted.call && pack == batch.planted.pack) {
    seen.word[batch.planted.word] ^= batch.planted.flipped;
  }
  call.output[pack] = {{kPoison, kPoison, kPoison, kPoison}};
  std::uint32_t wrong = 0;
  for (std::uint32_t word = 0; word < kPackWords; ++word) {
    const std::uint32_t expected =
        rule.Arriving(payload.word(static_cast<std::uint64_t>(of_source) * kPackWords + word));
    if (seen.word[word] == expected) continue;
    if (wrong++ > 0) continue;
    *first = {number, of_source, source,
              word,   expected,  {seen.word[0], seen.word[1], seen.word[2], seen.word[3]}};
  }
  return wrong;
}

template <class Worker>
MAILBENCH_DEVICE void CheckOutputs(const Worker& worker, const CheckedBatch& batch) {
  const std::uint64_t first_call = batch.log->next_call;
  const auto check = [&](const Share& share) {
    const CheckedCall& call = batch.calls[share.call];
    std::uint32_t wrong = 0;
    std::uint64_t compared = 0;
    WrongCall first;
    for (std::int64_t pack = share.first; pack < share.end; pack += worker.threads) {
      WrongCall of_pack;
      const std::uint32_t words = CheckPack(batch, call, share.number, pack, &of_pack);
      if (words > 0 && wrong == 0) first = of_pack;
      wrong += words;
      compared += kPackWords;
    }
    if (wrong > 0) LogWrong(worker, batch, share.call, wrong, first);
    if (compared > 0) worker.Add(&batch.log->compared, compared);
  };
  ForEachItem(worker, batch, batch.check_items, batch.check_count, batch.ranks, check);
  // Every CTA has read the number of the first call before the last one changes it.
  worker.Sync();
  if (worker.thread != 0) return;
  if (worker.Add(&batch.log->finished_ctas, 1u) + 1 < static_cast<std::uint32_t>(worker.ctas)) {
    return;
  }
  batch.log->finished_ctas = 0;
  batch.log->next_call = first_call + static_cast<std::uint64_t>(batch.count);
}

}  // namespace mailbench
