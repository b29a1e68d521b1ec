// The text table of a run, in the manner of nccl-tests. Pure functions; each returns whole lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/report/point_record.h"
#include "harness/report/run_facts.h"
#include "harness/report/stress_record.h"

namespace mailbench {

struct TableHead {
  std::string collective;
  std::string version;
  Environment environment;
  std::vector<std::string> algorithms;  // those that run
  std::vector<Skipped> skipped;         // those that do not run at any size are shown
  bool launched = true;                 // by mpirun or the like
};

// The run in lines that start with '#'.
std::string FormatRunHead(const TableHead& head);
// What stands before the rows: the floor, if it was measured, and the names and units of the
// columns.
std::string FormatColumns(const std::optional<Floor>& floor);

// One line. Columns have fixed widths, so that a row can be printed as soon as its point is done;
// a name that is too long moves its own row only. A p99 of too few samples is "-". Behind the last
// column come notes: where the interval of the median is wider than 5 % of it, or less sure than
// 95 %; where the warm-up came to its bound ("not steady"); where a GPU's clock has changed by more
// than 2 % while the samples were taken.
std::string FormatTableRow(const PointRecord& point);

// A stress run: the same, what is done, and the columns; then one line an algorithm.
std::string FormatStressHead(const TableHead& head, int calls);
// And, below it, what a call took.
std::string FormatStressRow(const StressRecord& record);
// `wrong_words`: mismatches and leftovers of all rows. `report`: its path; empty: none.
std::string FormatStressFoot(std::uint64_t wrong_words, const std::string& report);

struct TableFoot {
  std::size_t points = 0;          // in the table
  std::size_t resumed_points = 0;  // finished by an earlier run, not in the table
  bool checked = true;             // any point was
  std::uint64_t wrong_words = 0;   // mismatches and leftovers of the table's points
  bool earlier_wrong = false;      // a point of the earlier run was wrong
  std::string report;              // its path; empty: none
  // Those that do not run at one size are counted: each leaves out so many points.
  std::vector<Skipped> skipped = {};
  std::size_t points_per_shape = 1;
};
std::string FormatTableFoot(const TableFoot& foot);

}  // namespace mailbench
