// What the adversary may do, and what it can find.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace mailbench {

// The default is the strictest that the protocols promise to survive.
struct WorldRules {
  bool links_in_order = false;      // words between two ranks land in the order of their stores
  bool store_buffers = true;        // plain stores land late; otherwise at once
  int lag = 0;                      // plain stores to mailboxes need not land before so many more
                                    // launches of their rank have completed
  bool programmatic_launch = true;  // a grid starts when its predecessor permits it; otherwise when
                                    // that has completed
  int resident_ctas = 0;            // of a rank, or of all ranks with `shared_gpu`; 0: no limit
  bool shared_gpu = false;
};

enum class Property {
  kOutput,    // a result differs from what was published for its call
  kLeftover,  // a word was left behind
  kRace,      // a weak access to a word that another thread's store is on its way to, or a poll
              // of or a store to a word that another rank stores weakly
  kOverrun,   // a word landed on one that had not been reset
  kSlack,     // a rank has got further ahead of a peer than the protocol allows
  kStray,     // an access to what is no memory of the world
  kDeadlock,  // threads wait for what nobody will do
  kEndless,   // too many steps
};
const char* ToString(Property property);  // "output"

struct Violation {
  Property property = Property::kOutput;
  std::string text;
  std::string place = {};  // of the word in question, as Fabric::Describe names it
  // Of kOutput: what the result should have held, and whose it is.
  std::optional<std::uint32_t> wanted = {};
  int rank = 0;
};

}  // namespace mailbench
