#include "kernels/known_bad/models.h"

namespace mailbench {

std::vector<Model> KnownBadModels() {
  std::vector<Model> models;
  for (const MnnvlName& known : kMnnvlNames) {
    models.push_back(WithMnnvlRules(known.variant, [&]<class Rules>(Rules) {
      return MnnvlModel<Rules>(std::string(known.name), std::string(known.summary));
    }));
  }
  return models;
}

}  // namespace mailbench
