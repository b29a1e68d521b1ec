#include "src/protocol_checker/timeline.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <iterator>
#include <string_view>

#include "kernels/machine/hex.h"

namespace mailbench {
namespace {

bool Contains(const Event& event, const std::string& text) {
  return event.text.find(text) != std::string::npos;
}

// "rank 1's mailbox, generation 0, slot of rank 0, pack 1, word 3" without the word.
std::string SlotOf(const std::string& place) { return place.substr(0, place.rfind(", word")); }

// Where on the rank the value has landed; empty when it never did.
std::string PlaceOf(const std::vector<Event>& trace, const std::string& value, int rank) {
  constexpr std::string_view kLands = " lands in ";
  for (const Event& event : trace) {
    const std::size_t at = event.text.find(kLands);
    if (at != std::string::npos && event.rank == rank && event.text.starts_with(value)) {
      return event.text.substr(at + kLands.size());
    }
  }
  return "";
}

// A pack name that is followed by a digit is that of another pack.
bool Concerns(const Event& event, const std::string& slot) {
  for (std::size_t at = 0; (at = event.text.find(slot, at)) != std::string::npos; ++at) {
    const std::size_t behind = at + slot.size();
    if (behind == event.text.size() || event.text[behind] < '0' || event.text[behind] > '9') {
      return true;
    }
  }
  return false;
}

}  // namespace

std::vector<Event> EventsInQuestion(const std::vector<Event>& trace, const Violation& violation) {
  const std::string value = violation.wanted ? Hex(*violation.wanted) : "";
  const std::string place =
      violation.wanted ? PlaceOf(trace, value, violation.rank) : violation.place;
  if (place.empty()) return trace;
  const std::string slot = SlotOf(place);
  std::vector<Event> events;
  std::copy_if(trace.begin(), trace.end(), std::back_inserter(events), [&](const Event& event) {
    return event.text.ends_with(kCompleted) || event.text.ends_with(kTakesPlace) ||
           Concerns(event, slot) || (!value.empty() && Contains(event, value));
  });
  return events;
}

std::string TimelineText(const std::vector<Event>& events) {
  constexpr int kIndent = 4;  // a rank
  std::string text;
  for (const Event& event : events) {
    std::array<char, 32> step;
    std::snprintf(step.data(), step.size(), "%7llu  ", static_cast<unsigned long long>(event.step));
    text += step.data() + std::string(static_cast<std::size_t>(event.rank * kIndent), ' ') +
            "rank " + std::to_string(event.rank) + ": " + event.text + "\n";
  }
  return text;
}

std::string ShortTimelineText(const std::vector<Event>& events, std::size_t most) {
  if (events.size() <= most) return TimelineText(events);
  const auto first = events.end() - static_cast<std::ptrdiff_t>(most);
  return "         ... " + std::to_string(events.size() - most) + " more before\n" +
         TimelineText({first, events.end()});
}

}  // namespace mailbench
