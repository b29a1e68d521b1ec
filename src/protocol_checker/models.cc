#include "src/protocol_checker/models.h"

#include <algorithm>

#include "kernels/known_bad/models.h"
#include "kernels/lamport/models.h"
#include "kernels/start_gate/models.h"

namespace mailbench {

std::vector<Model> RegisteredModels() {
  std::vector<Model> models;
  const auto add = [&](std::vector<Model> more) {
    models.insert(models.end(), more.begin(), more.end());
  };
  // One line a folder of protocols.
  add(LamportModels());
  add(StartGateModels());
  add(KnownBadModels());
  return models;
}

const Model* FindModel(const std::vector<Model>& models, std::string_view name) {
  const auto found = std::find_if(models.begin(), models.end(),
                                  [&](const Model& model) { return model.name == name; });
  return found == models.end() ? nullptr : &*found;
}

}  // namespace mailbench
