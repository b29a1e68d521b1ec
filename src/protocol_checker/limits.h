// The most that the checker takes, from flags and from saved schedules alike: more of it than can
// be searched, less than would take all memory.
#pragma once

namespace mailbench {

inline constexpr int kMostRanks = 8;
inline constexpr int kMostCalls = 64;
inline constexpr int kMostPacks = 64;
inline constexpr int kMostThreads = 8;
inline constexpr int kMostStreams = kMostCalls;
inline constexpr int kMostReplays = 4;
inline constexpr int kMostLag = kMostCalls;
inline constexpr int kMostResidentCtas = 1'000;

}  // namespace mailbench
