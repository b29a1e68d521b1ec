// The rules of the gathers that a test may break, one at a time, to see that the breach is found.
// What ships obeys all of them: Faithful. Each breach is named after its fault; mutants.cc
// says which public report or which edit it stands for, and what it leads to.
#pragma once

#include <cstdint>

#include "kernels/lamport/gather_options.h"
#include "kernels/lamport/layout.h"
#include "kernels/machine/annotations.h"
#include "kernels/machine/pack.h"

namespace mailbench {

// What becomes of a rank's own copy of what it publishes.
enum class OwnSlot {
  kAwaited,          // like any other
  kAwaitedForReset,  // but the output gets the pack from a register
  kResetUnawaited,   // the output gets the pack from a register; the slot is reset all the same
  kWriteOnly,        // the output gets the pack from a register; the slot is never looked at
};

// Which slots a call resets, and when.
enum class Reset {
  kOwn,             // of its own generation, after the store to the output
  kBeforeOutput,    // of its own generation, before the store to the output
  kNext,            // of the next generation
  kPrevious,        // of the previous generation
  kPreviousExtent,  // of the previous generation, as many packs as this call has
  kNothing,
};

struct Faithful {
  static constexpr bool kSanitises = true;                         // L2
  static constexpr bool kPublishesWeakly = false;                  // M2
  static constexpr int kPolledWords = kPackWords;                  // L5
  static constexpr std::int64_t kPackLeftUnreset = -1;             // L1, L3
  static constexpr OwnSlot kOwnSlot = OwnSlot::kAwaited;           // L3
  static constexpr Reset kReset = Reset::kOwn;                     // L1, L3
  static constexpr bool kStrideIsCallSize = false;                 // L4
  static constexpr std::uint32_t kGenerationsUsed = kGenerations;  // L6, L7
  // The generation is never reduced, only its slots are: modulo kGenerations.
  static constexpr bool kCountsEpochs = false;               // L6
  static constexpr bool kAdvancesAtFirstArrival = false;     // L6
  static constexpr bool kClearsCount = true;                 // L6
  static constexpr Arrival kArrival = Arrival::kAcqRel;      // L6, of protocol.h
  static constexpr bool kHostComputesGeneration = false;     // L6, of protocol.h
  static constexpr bool kCountsBeforeReading = false;        // L9, of protocol.h
  static constexpr bool kBarrierAfterReading = true;         // L6, of protocol.h
  static constexpr bool kBarrierBeforeArrival = true;        // L9, of overlapped.h
  static constexpr bool kWaits = true;                       // L8
  static constexpr bool kReadsInputBeforeWait = false;       // L8, of protocol.h
  static constexpr bool kReadsGenerationBeforeWait = false;  // L8, of overlapped.h
  static constexpr bool kTriggersBeforeWait = false;         // L8, of protocol.h

  // Compared as an integer: a floating-point comparison would take a subnormal or a zero for it.
  MAILBENCH_DEVICE static bool IsSentinel(std::uint32_t word) { return word == kSentinel; }
};

}  // namespace mailbench
