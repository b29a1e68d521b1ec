// What happened in a schedule, step by step, to be read.
#pragma once

#include <string>
#include <vector>

#include "kernels/machine/adversary/rules.h"
#include "kernels/machine/adversary/world.h"

namespace mailbench {

// The events that concern the word in question: those of its slot, those that carry its value, and
// the ends of calls, to tell how far each rank is.
// All events where nothing tells which word that is.
std::vector<Event> EventsInQuestion(const std::vector<Event>& trace, const Violation& violation);

// A line an event: its step, then what happened, the more to the right the higher the rank.
std::string TimelineText(const std::vector<Event>& events);

// The last `most` of them, and how many there were before.
std::string ShortTimelineText(const std::vector<Event>& events, std::size_t most);

}  // namespace mailbench
