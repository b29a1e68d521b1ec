// For tests: the ranks of a gather as threads of one process, their mailboxes in plain memory.
#pragma once

#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

#include "kernels/lamport/layout.h"
#include "kernels/lamport/mailbox.h"

namespace mailbench {

class ThreadRanks {
 public:
  ThreadRanks(int ranks, std::int64_t capacity_packs) : layout_{ranks, capacity_packs} {
    for (int rank = 0; rank < ranks; ++rank) {
      mailboxes_.emplace_back(static_cast<std::size_t>(layout_.packs()));
      ArmMailbox(mailboxes_.back().data(), layout_);
    }
  }

  const MailboxLayout& layout() const { return layout_; }

  MailboxView View(int rank) {
    MailboxView view;
    view.layout = layout_;
    view.rank = rank;
    for (int peer = 0; peer < layout_.ranks; ++peer) {
      view.peers[peer] = mailboxes_[static_cast<std::size_t>(peer)].data();
    }
    view.local = view.peers[rank];
    return view;
  }

  // Runs `body` for every rank at once.
  void Run(const std::function<void(int rank)>& body) {
    std::vector<std::thread> threads;
    for (int rank = 0; rank < layout_.ranks; ++rank) {
      threads.emplace_back([&, rank] { body(rank); });
    }
    for (std::thread& thread : threads) thread.join();
  }

  // Words that calls left behind, over all mailboxes.
  std::uint64_t Leftover() const {
    std::uint64_t leftover = 0;
    for (const auto& mailbox : mailboxes_) {
      leftover += AuditMailbox(mailbox.data(), layout_).leftover;
    }
    return leftover;
  }

 private:
  MailboxLayout layout_;
  std::vector<std::vector<Pack>> mailboxes_;
};

// A word of the input of a call: half of them hard ones, the rest a mixture of all its arguments.
inline std::uint32_t TestWord(int call, int rank, std::int64_t index) {
  constexpr std::uint32_t kHard[] = {kSentinel, 0u, 0x80000001u, 0x7fc00000u, 0xffffffffu, 1u};
  std::uint64_t x = static_cast<std::uint64_t>(call) * 0x9e3779b97f4a7c15u +
                    static_cast<std::uint64_t>(rank) * 0xbf58476d1ce4e5b9u +
                    static_cast<std::uint64_t>(index) * 0x94d049bb133111ebu;
  x = (x ^ (x >> 31)) * 0xd6e8feb86659fd93u;
  x ^= x >> 29;
  return x % 2 == 0 ? kHard[(x >> 8) % 6] : static_cast<std::uint32_t>(x >> 32);
}

inline std::vector<Pack> TestInput(int call, int rank, std::int64_t packs) {
  std::vector<Pack> input(static_cast<std::size_t>(packs));
  for (std::int64_t i = 0; i < packs * kPackWords; ++i) {
    input[static_cast<std::size_t>(i / kPackWords)].word[i % kPackWords] = TestWord(call, rank, i);
  }
  return input;
}

// Words of `output` that are not what the gather of `call` promises.
inline std::uint64_t WrongWords(const std::vector<Pack>& output, int call, int ranks,
                                std::int64_t packs) {
  std::uint64_t wrong = 0;
  for (int source = 0; source < ranks; ++source) {
    for (std::int64_t i = 0; i < packs * kPackWords; ++i) {
      const std::uint32_t sent = TestWord(call, source, i);
      const auto at = static_cast<std::size_t>(source * packs + i / kPackWords);
      wrong += output[at].word[i % kPackWords] != (sent == kSentinel ? 0 : sent);
    }
  }
  return wrong;
}

}  // namespace mailbench
