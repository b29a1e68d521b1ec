// Which CTAs of a world may start, and which of them take the places that there are.
#include <algorithm>
#include <cstddef>

#include "kernels/machine/adversary/world.h"

namespace mailbench {

bool World::MayStart(const Launch& launch) const {
  if (launch.started == launch.dims.ctas) return false;
  if (launch.predecessor == kNone) return true;
  const Launch& before = launches_[launch.predecessor];
  return rules_.programmatic_launch ? before.triggered == before.dims.ctas : before.completed;
}

// How many CTAs share the launch's places.
int& World::ResidentBeside(const Launch& launch) {
  return resident_[static_cast<std::size_t>(rules_.shared_gpu ? 0 : launch.rank)];
}

void World::StartCtas() {
  may_start_ = false;
  for (std::size_t i = 0; i < launches_.size(); ++i) {
    Launch& launch = launches_[i];
    if (rules_.resident_ctas > 0) {
      Offer(launch);
      continue;
    }
    while (MayStart(launch)) StartCta(i, launch.started++);
  }
}

// Lists the launch's next CTA among what can run, by its first thread, as long as there is a place:
// who gets it, and when, is for the strategy to choose.
void World::Offer(Launch& launch) {
  const bool offers = MayStart(launch) && ResidentBeside(launch) < rules_.resident_ctas;
  if (offers == launch.offered) return;
  launch.offered = offers;
  AdversaryThread& first = threads_[launch.first_thread +
                                    static_cast<std::size_t>(launch.started * launch.dims.threads)];
  if (offers) {
    MakeReady(first);
    first.state_ = AdversaryThread::State::kMayStart;
  } else {
    ready_.erase(std::find(ready_.begin(), ready_.end(), first.writer_.thread));
    first.state_ = AdversaryThread::State::kReturned;
  }
}

// REQUIRES: `first` is the first of ready_, and stays there.
void World::TakePlace(AdversaryThread& first) {
  Launch& launch = launches_[first.launch_];
  launch.offered = false;
  ready_.erase(ready_.begin());
  const auto others = static_cast<std::ptrdiff_t>(ready_.size());
  StartCta(first.launch_, launch.started++);
  std::rotate(ready_.begin(), ready_.begin() + others, ready_.begin() + others + 1);
  may_start_ = true;  // or no longer: the place may have been the last
  if (trace_ != nullptr) {
    trace_->push_back(
        {steps_, launch.rank, launch.name + ", CTA " + std::to_string(first.cta_) + kTakesPlace});
  }
}

void World::StartCta(std::size_t launch, int index) {
  ++ResidentBeside(launches_[launch]);
  Cta& cta = ctas_[launch][static_cast<std::size_t>(index)];
  const auto threads = static_cast<std::size_t>(launches_[launch].dims.threads);
  cta.live = launches_[launch].dims.threads;
  cta.at_barrier = 0;
  cta.triggered = false;
  cta.shared.assign(launches_[launch].shared_words, 0);
  const std::size_t first =
      launches_[launch].first_thread + static_cast<std::size_t>(index) * threads;
  for (std::size_t i = first; i < first + threads; ++i) MakeReady(threads_[i]);
}

}  // namespace mailbench
