#include "harness/watchdog/board_view.h"

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <new>

#include "harness/watchdog/process.h"

namespace mailbench {

void ClearBoard(ControlBlock* control, std::span<HeartbeatSlot> slots) {
  new (control) ControlBlock{};
  for (HeartbeatSlot& slot : slots) {
    new (&slot) HeartbeatSlot{};
  }
}

void Arrive(HeartbeatSlot* slot) {
  slot->since_ns.store(MonotonicNow(), std::memory_order_relaxed);
  slot->pid_namespace.store(OwnPidNamespace(), std::memory_order_relaxed);
  slot->pid.store(getpid(), std::memory_order_release);
}

bool OwnerIsAlive(const HeartbeatSlot& slot) {
  const std::int32_t pid = slot.pid.load(std::memory_order_acquire);
  return pid == 0 || slot.pid_namespace.load(std::memory_order_relaxed) != OwnPidNamespace() ||
         ProcessIsAlive(pid);
}

bool OwnerIsStopped(const HeartbeatSlot& slot) {
  const std::int32_t pid = slot.pid.load(std::memory_order_acquire);
  return pid != 0 && slot.pid_namespace.load(std::memory_order_relaxed) == OwnPidNamespace() &&
         ProcessIsStopped(pid);
}

std::vector<RankSnapshot> TakeSnapshots(const BoardView& board, Liveness liveness) {
  const std::size_t next = (board.own + 1) % board.slots.size();
  std::vector<RankSnapshot> snapshots;
  snapshots.reserve(board.slots.size());
  for (std::size_t index = 0; index < board.slots.size(); ++index) {
    const HeartbeatSlot& slot = board.slots[index];
    RankSnapshot snapshot;
    snapshot.rank = board.ranks[index];
    // Alive before the state: a rank that finishes and leaves in between is seen as finished.
    snapshot.alive = (liveness == Liveness::kNextRank && index != next) || OwnerIsAlive(slot);
    snapshot.stopped = liveness == Liveness::kAllRanks && OwnerIsStopped(slot);
    snapshot.pid = slot.pid.load(std::memory_order_acquire);
    snapshot.state = Read(slot);
    snapshots.push_back(snapshot);
  }
  return snapshots;
}

bool IsClaimed(const BoardView& board) {
  return board.control->claim.load(std::memory_order_acquire) != 0;
}

ClaimResult TryClaim(const BoardView& board) {
  const auto own = static_cast<std::uint32_t>(board.own + 1);
  std::uint32_t holder = 0;
  if (board.control->claim.compare_exchange_strong(holder, own, std::memory_order_acq_rel)) {
    return {.claimed = true, .dead_rank = std::nullopt};
  }
  const std::size_t slot = holder - 1;
  // Dead first, then not done: a claimer marks the end before it leaves.
  if (OwnerIsAlive(board.slots[slot]) || HasEnded(board)) {
    return {};
  }
  if (!board.control->claim.compare_exchange_strong(holder, own, std::memory_order_acq_rel)) {
    return {};
  }
  return {.claimed = true, .dead_rank = board.ranks[slot]};
}

void SayEnding(const BoardView& board, ExitCode code, std::string_view reason) {
  char* buffer = board.control->reason;
  const std::size_t length = std::min(reason.size(), sizeof(board.control->reason) - 1);
  std::memcpy(buffer, reason.data(), length);
  buffer[length] = '\0';
  board.control->code.store(static_cast<std::int32_t>(code), std::memory_order_release);
}

std::optional<ExitCode> SaidCode(const BoardView& board) {
  const std::int32_t code = board.control->code.load(std::memory_order_acquire);
  return code == 0 ? std::nullopt : std::optional(static_cast<ExitCode>(code));
}

std::string SaidReason(const BoardView& board) {
  return SaidCode(board) ? std::string(board.control->reason) : std::string();
}

void MarkEnded(const BoardView& board) { board.control->ended.store(1, std::memory_order_release); }

bool HasEnded(const BoardView& board) {
  return board.control->ended.load(std::memory_order_acquire) != 0;
}

void MarkReadyToLeave(const BoardView& board) {
  board.own_slot().ready_to_leave.store(1, std::memory_order_release);
}

bool AllReadyToLeave(const BoardView& board) {
  return std::all_of(board.slots.begin(), board.slots.end(), [](const HeartbeatSlot& slot) {
    return slot.ready_to_leave.load(std::memory_order_acquire) != 0 || !OwnerIsAlive(slot);
  });
}

}  // namespace mailbench
