// The board: shared memory in which the ranks of one host see where each of them is, and agree on
// the one that ends the run. This is the non-owning side; RunBoard owns the memory.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/error.h"
#include "harness/watchdog/diagnosis.h"
#include "harness/watchdog/heartbeat.h"

namespace mailbench {

struct alignas(128) ControlBlock {
  std::atomic<std::uint32_t> claim;  // 1 + the slot of the rank that ends the run; 0: nobody
  std::atomic<std::int32_t> code;    // the run's ExitCode, said by the claimer; 0 until then
  std::atomic<std::uint32_t> ended;  // 1 when the claimer is done: the report is written
  char reason[1024];                 // the claimer's, ends with '\0'; written before `code`
};

// What a process knows of the board. Copyable; valid as long as the memory.
struct BoardView {
  ControlBlock* control = nullptr;
  std::span<HeartbeatSlot> slots;  // one a rank of this host
  std::vector<int> ranks;          // by slot: its rank in the run, ascending
  std::size_t own = 0;             // the slot of this process

  HeartbeatSlot& own_slot() const { return slots[own]; }
};

// Makes an empty board. Done by one process before any other looks.
void ClearBoard(ControlBlock* control, std::span<HeartbeatSlot> slots);

// Writes this process into its slot: from here on its death is noticed.
void Arrive(HeartbeatSlot* slot);

// False when the slot's process is gone. A process that has not arrived, or whose id does not count
// here because it lives in another PID namespace, is taken to be alive.
bool OwnerIsAlive(const HeartbeatSlot& slot);

// Whether the slot's process is there and does not run: see ProcessIsStopped.
bool OwnerIsStopped(const HeartbeatSlot& slot);

// Whose death a snapshot shows, and, of all ranks, who is stopped. To ask for a process costs a
// look into /proc: when every rank asks for the next one only, all of them are asked for, and the
// cost does not grow with their square.
enum class Liveness { kNextRank, kAllRanks };

std::vector<RankSnapshot> TakeSnapshots(const BoardView& board, Liveness liveness);

struct ClaimResult {
  bool claimed = false;          // this process ends the run
  std::optional<int> dead_rank;  // who had claimed before and died before it was done
};
// Whether some rank ends the run.
bool IsClaimed(const BoardView& board);
// Takes the board when nobody has, or when the one who has is dead and not done.
ClaimResult TryClaim(const BoardView& board);

// For the claimer: says how the run ends. `reason` is cut to the buffer.
void SayEnding(const BoardView& board, ExitCode code, std::string_view reason);
// The code that the claimer said; nothing before it did.
std::optional<ExitCode> SaidCode(const BoardView& board);
// What a claimer said before it died, "" if nothing. REQUIRES: TryClaim named a dead rank.
std::string SaidReason(const BoardView& board);
void MarkEnded(const BoardView& board);
bool HasEnded(const BoardView& board);

// For every rank of a run that ends: nothing is left for it to do.
void MarkReadyToLeave(const BoardView& board);
// Whether that is so for all ranks that still live.
bool AllReadyToLeave(const BoardView& board);

}  // namespace mailbench
