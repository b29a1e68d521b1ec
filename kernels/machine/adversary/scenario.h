// What ranks do in the world of one model: small, since every interleaving of it counts.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kernels/machine/adversary/rules.h"

namespace mailbench {

class World;

struct Scenario {
  int ranks = 2;
  std::vector<std::int64_t> sizes;  // of the calls, in their order: packs a rank
  int threads = 1;                  // a CTA: few, so that small calls have several CTAs
  bool multicast = true;  // publish through the multicast mapping; otherwise one store a rank
  int streams = 1;        // that the calls of a rank take turns on; more than one breaks REQUIRES
  bool producer = false;  // a kernel before each call writes its input; `lag` counts it as a call
  int replays = 1;        // the calls are recorded once, with what hosts compute, and replayed
};

// Owns a world and all that its kernels point to.
class ModelWorld {
 public:
  virtual ~ModelWorld() = default;
  virtual World& world() = 0;
};

// A protocol, as the checker knows it.
struct Model {
  std::string name;
  std::string summary;
  std::function<std::unique_ptr<ModelWorld>(const Scenario&, const WorldRules&)> make;
  // Its launches are calls of a gather. Otherwise they publish nothing through a multicast mapping,
  // are not replayed, and some stand for hosts: the scenario's number of calls, ranks and threads
  // alone mean something, and a limit of resident CTAs nothing.
  bool gathers = true;
};

}  // namespace mailbench
