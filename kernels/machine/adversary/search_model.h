// A search of a model in a world of its own, for tests.
#pragma once

#include <memory>
#include <string>

#include "kernels/machine/adversary/scenario.h"
#include "kernels/machine/adversary/search.h"

namespace mailbench {

inline SearchResult SearchModel(const Model& model, const Scenario& scenario,
                                const WorldRules& rules, const SearchOptions& options) {
  const std::unique_ptr<ModelWorld> world = model.make(scenario, rules);
  return Search(world->world(), options);
}

// "race: rank 1 reads ..., schedule 7" or "nothing in 300 schedules".
inline std::string TextOf(const SearchResult& result) {
  if (!result.violation) return "nothing in " + std::to_string(result.schedules) + " schedules";
  return std::string(ToString(result.violation->property)) + ": " + result.violation->text +
         ", schedule " + std::to_string(result.schedules);
}

}  // namespace mailbench
