#include "harness/stress/wrong_calls.h"

#include <algorithm>
#include <set>
#include <sstream>
#include <string>
#include <tuple>

#include "harness/ranks/ranks.h"

namespace mailbench {
namespace {

// A line; the origin, which has spaces, comes last.
std::string ToLine(const WrongWord& wrong) {
  std::ostringstream line;
  line << wrong.call << ' ' << wrong.rank << ' ' << wrong.source << ' ' << wrong.pack << ' '
       << wrong.word << ' ' << wrong.expected;
  for (const std::uint32_t word : wrong.seen) line << ' ' << word;
  line << ' ' << wrong.origin << '\n';
  return line.str();
}

WrongWord FromLine(const std::string& line) {
  std::istringstream from(line);
  WrongWord wrong;
  from >> wrong.call >> wrong.rank >> wrong.source >> wrong.pack >> wrong.word >> wrong.expected;
  for (std::uint32_t& word : wrong.seen) from >> word;
  from.get();
  std::getline(from, wrong.origin);
  return wrong;
}

}  // namespace

std::uint64_t CountOverRanks(const std::vector<std::uint64_t>& calls, const Ranks& ranks) {
  std::string own;
  for (const std::uint64_t call : calls) own += std::to_string(call) + ' ';
  std::set<std::uint64_t> all;
  for (const std::string& text : ranks.Gather(own)) {
    std::istringstream from(text);
    for (std::uint64_t call = 0; from >> call;) all.insert(call);
  }
  return all.size();
}

std::vector<WrongWord> FirstOverRanks(const std::vector<WrongWord>& own, std::size_t most,
                                      const Ranks& ranks) {
  std::string text;
  for (const WrongWord& wrong : own) text += ToLine(wrong);
  std::vector<WrongWord> all;
  for (const std::string& lines : ranks.Gather(text)) {
    std::istringstream from(lines);
    for (std::string line; std::getline(from, line);) all.push_back(FromLine(line));
  }
  std::sort(all.begin(), all.end(), [](const WrongWord& a, const WrongWord& b) {
    return std::tie(a.call, a.rank) < std::tie(b.call, b.rank);
  });
  if (all.size() > most) all.resize(most);
  return all;
}

}  // namespace mailbench
