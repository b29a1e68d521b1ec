#pragma once

namespace mailbench {

// One rack: the most ranks that any kernel takes. Tables of peers travel as kernel arguments.
inline constexpr int kMaxRanks = 72;

}  // namespace mailbench
