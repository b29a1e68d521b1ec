#include "kernels/machine/adversary/world.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "kernels/machine/hex.h"

namespace mailbench {

int AdversaryThread::cta_index() const { return cta_; }
const GridDims& AdversaryThread::dims() const { return world_->launches_[launch_].dims; }
void* AdversaryThread::shared() const { return world_->CtaOf(*this).shared.data(); }

void AdversaryThread::Wait(State state) {
  state_ = state;
  if (state == State::kPolling) ++world_->polling_;
  if (state != State::kReady) {
    auto& ready = world_->ready_;
    ready.erase(std::find(ready.begin(), ready.end(), writer_.thread));
  }
  fiber_.Suspend();
}

void AdversaryThread::Step() {
  AdversaryThread* next = world_->Decide();
  if (next == this) return;
  world_->next_ = next;
  Wait(State::kReady);
}

void AdversaryThread::CtaBarrier() {
  Step();
  World::Cta& cta = world_->CtaOf(*this);
  if (++cta.at_barrier < cta.live) {
    Wait(State::kBarrier);
    return;
  }
  world_->ReleaseBarrier(launch_, cta_);
}

void AdversaryThread::DependencyWait() {
  Step();
  const std::size_t predecessor = world_->launches_[launch_].predecessor;
  if (predecessor != World::kNone && !world_->launches_[predecessor].completed) {
    Wait(State::kDependency);
  }
}

void AdversaryThread::LaunchDependents() {
  Step();
  world_->Trigger(world_->launches_[launch_], world_->CtaOf(*this));
}

void AdversaryThread::PollAgain(const PollSite& site) {
  site_ = site;
  if (world_->fabric_.violation) return Step();  // the site may be stray
  // A word that landed since it was looked at is a change.
  if (world_->fabric_.Load(writer_, site.word) == site.seen) Wait(State::kPolling);
}

void AdversaryThread::Note(const std::string& text) const {
  if (world_->trace_ == nullptr) return;
  world_->trace_->push_back({world_->steps_, writer_.rank,
                             world_->launches_[launch_].name + ", CTA " + std::to_string(cta_) +
                                 ", thread " + std::to_string(index_) + ": " + text});
}

World::World(int ranks, const WorldRules& rules) : ranks_(ranks), rules_(rules), fabric_(rules) {
  fabric_.on_change = [this](const std::uint32_t* word) { Changed(word); };
}
World::~World() = default;

MulticastPack* World::AddMulticast(std::vector<Pack*> mailboxes) {
  multicasts_.emplace_back(std::make_unique<std::byte[]>(1), std::move(mailboxes));
  return reinterpret_cast<MulticastPack*>(multicasts_.back().first.get());
}

const std::vector<Pack*>& World::mailboxes(const MulticastPack* address) const {
  for (const auto& [place, mailboxes] : multicasts_) {
    if (reinterpret_cast<const MulticastPack*>(place.get()) == address) return mailboxes;
  }
  throw std::logic_error("a multicast store to what is no multicast address");
}

void World::Expect(int rank, std::string name, std::uint32_t* words,
                   std::vector<std::uint32_t> values) {
  fabric_.AddPrivate(rank, words, values.size());
  expectations_.push_back({rank, std::move(name), words, std::move(values)});
}

void World::AddLaunch(int rank, int stream, std::string name, const GridDims& dims,
                      std::size_t shared_bytes, Kernel kernel) {
  Launch launch;
  launch.rank = rank;
  launch.name = std::move(name);
  launch.dims = dims;
  launch.shared_words = shared_bytes / sizeof(std::uint64_t) + 1;
  launch.kernel = std::move(kernel);
  launch.first_thread = threads_.size();
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    if (streams_[i] == std::pair(rank, stream)) launch.predecessor = i;
  }
  streams_.emplace_back(rank, stream);
  for (int cta = 0; cta < dims.ctas; ++cta) {
    for (int index = 0; index < dims.threads; ++index) {
      AdversaryThread& thread = threads_.emplace_back();
      thread.world_ = this;
      thread.launch_ = launches_.size();
      thread.cta_ = cta;
      thread.index_ = index;
      thread.writer_ = {rank, static_cast<std::uint32_t>(launches_.size()),
                        static_cast<std::uint32_t>(cta),
                        static_cast<std::uint32_t>(threads_.size() - 1)};
    }
  }
  ctas_.emplace_back(static_cast<std::size_t>(dims.ctas));
  launches_.push_back(std::move(launch));
}

World::Cta& World::CtaOf(const AdversaryThread& thread) {
  return ctas_[thread.launch_][static_cast<std::size_t>(thread.cta_)];
}

void World::Reset() {
  fabric_.Reset();
  for (const Expectation& expectation : expectations_) {
    std::fill_n(expectation.words, expectation.values.size(), kUnwritten);
  }
  for (Launch& launch : launches_) {
    launch.started = launch.triggered = launch.ended = 0;
    launch.completed = launch.offered = false;
  }
  ready_.clear();
  polling_ = 0;
  completed_.assign(static_cast<std::size_t>(ranks_), 0);
  resident_.assign(static_cast<std::size_t>(ranks_), 0);
  steps_ = 0;
  given_up_ = false;
  lead_.clear();
  next_ = nullptr;
  may_start_ = true;
}

void World::MakeReady(AdversaryThread& thread) {
  thread.state_ = AdversaryThread::State::kReady;
  ready_.push_back(thread.writer_.thread);
}

bool World::GivesUp() {
  if (++steps_since_question_ < kStepsBetweenQuestions) return false;
  steps_since_question_ = 0;
  return goes_on && !goes_on();
}

AdversaryThread* World::Decide() {
  while (!fabric_.violation && !given_up_) {
    if (may_start_) StartCtas();
    const std::vector<std::uint32_t>& words = fabric_.landable();
    if (ready_.empty() && words.empty()) return nullptr;
    if (GivesUp()) {
      given_up_ = true;
      break;
    }
    if (++steps_ > kMostSteps) {
      Found(Property::kEndless, "no end after " + std::to_string(kMostSteps) + " steps");
      break;
    }
    const Step step = strategy_->Choose({&ready_, &words});
    if (!step.deliver) {
      std::rotate(ready_.begin(), ready_.begin() + static_cast<std::ptrdiff_t>(step.index),
                  ready_.begin() + static_cast<std::ptrdiff_t>(step.index) + 1);
      AdversaryThread& chosen = threads_[ready_.front()];
      if (chosen.state_ == AdversaryThread::State::kMayStart) TakePlace(chosen);
      return &chosen;
    }
    fabric_.Land(step.index);
  }
  return nullptr;
}

void World::Resume(AdversaryThread& thread) {
  if (thread.fiber_.done()) {
    thread.fiber_.Start(stacks_, [this, &thread] { launches_[thread.launch_].kernel(thread); });
  }
  thread.fiber_.Resume();
  if (thread.fiber_.done()) Returned(thread);
}

void World::ReleaseBarrier(std::size_t launch, int index) {
  Cta& cta = ctas_[launch][static_cast<std::size_t>(index)];
  cta.at_barrier = 0;
  fabric_.PassBarrier(static_cast<std::uint32_t>(launch), static_cast<std::uint32_t>(index));
  const auto threads = static_cast<std::size_t>(launches_[launch].dims.threads);
  const std::size_t first =
      launches_[launch].first_thread + static_cast<std::size_t>(index) * threads;
  for (std::size_t i = first; i < first + threads; ++i) {
    if (threads_[i].state_ == AdversaryThread::State::kBarrier) MakeReady(threads_[i]);
  }
}

void World::Trigger(Launch& launch, Cta& cta) {
  if (cta.triggered) return;
  cta.triggered = true;
  if (++launch.triggered == launch.dims.ctas) may_start_ = true;
}

void World::Returned(AdversaryThread& thread) {
  thread.state_ = AdversaryThread::State::kReturned;
  ready_.erase(std::find(ready_.begin(), ready_.end(), thread.writer_.thread));
  Launch& launch = launches_[thread.launch_];
  Cta& cta = CtaOf(thread);
  if (--cta.live > 0) {
    if (cta.at_barrier == cta.live) ReleaseBarrier(thread.launch_, thread.cta_);
    return;
  }
  Trigger(launch, cta);
  --ResidentBeside(launch);
  may_start_ = true;
  if (++launch.ended < launch.dims.ctas) return;
  launch.completed = true;
  if (trace_ != nullptr) trace_->push_back({steps_, launch.rank, launch.name + kCompleted});
  const std::uint64_t completed = ++completed_[static_cast<std::size_t>(launch.rank)];
  fabric_.FlushLaunch(static_cast<std::uint32_t>(thread.launch_), launch.rank, completed);
  CheckLead(launch.rank);
  for (AdversaryThread& waiting : threads_) {
    if (waiting.state_ == AdversaryThread::State::kDependency &&
        launches_[waiting.launch_].predecessor == thread.launch_) {
      MakeReady(waiting);
    }
  }
}

void World::CheckLead(int rank) {
  if (!most_lead_) return;
  const std::uint64_t own = completed_[static_cast<std::size_t>(rank)];
  for (int peer = 0; peer < ranks_; ++peer) {
    const std::uint64_t others = completed_[static_cast<std::size_t>(peer)];
    if (own <= others + *most_lead_ || !lead_.empty()) continue;
    lead_ = "rank " + std::to_string(rank) + " has completed " + std::to_string(own) +
            " launches when rank " + std::to_string(peer) + " has completed " +
            std::to_string(others);
  }
}

void World::Changed(const std::uint32_t* word) {
  if (polling_ == 0) return;
  for (AdversaryThread& thread : threads_) {
    if (thread.state_ == AdversaryThread::State::kPolling && thread.site_.word == word &&
        *word != thread.site_.seen) {
      --polling_;
      MakeReady(thread);
    }
  }
}

void World::Found(Property property, std::string text) {
  if (!fabric_.violation) fabric_.violation = {property, std::move(text), {}, {}, 0};
}

// Lets every thread that waits leave its kernel.
void World::Abandon() {
  for (AdversaryThread& thread : threads_) {
    thread.fiber_.Unwind();
    thread.state_ = AdversaryThread::State::kReturned;
  }
}

std::string World::DescribeDeadlock() const {
  std::string text;
  for (const AdversaryThread& thread : threads_) {
    if (thread.state_ == AdversaryThread::State::kReturned) continue;
    const Launch& launch = launches_[thread.launch_];
    text += (text.empty() ? "" : "; ") + std::string("rank ") + std::to_string(launch.rank) + ", " +
            launch.name + ", CTA " + std::to_string(thread.cta_) + ", thread " +
            std::to_string(thread.index_);
    if (thread.state_ == AdversaryThread::State::kPolling) {
      text += " polls " + fabric_.Describe(thread.site_.word);
    } else if (thread.state_ == AdversaryThread::State::kBarrier) {
      text += " waits at a barrier";
    } else {
      text += " waits for the grid before";
    }
  }
  for (const Launch& launch : launches_) {
    if (launch.started == launch.dims.ctas) continue;
    text += (text.empty() ? "" : "; ") + std::string("rank ") + std::to_string(launch.rank) + ", " +
            launch.name + " has started " + std::to_string(launch.started) + " of " +
            std::to_string(launch.dims.ctas) + " CTAs";
  }
  return text;
}

std::string World::PolledPlace() const {
  for (const AdversaryThread& thread : threads_) {
    if (thread.state_ == AdversaryThread::State::kPolling) {
      return fabric_.Describe(thread.site_.word);
    }
  }
  return "";
}

// When nothing can move any more.
void World::Finish() {
  const bool all_completed = std::all_of(launches_.begin(), launches_.end(),
                                         [](const Launch& launch) { return launch.completed; });
  if (!all_completed) {
    Found(Property::kDeadlock, DescribeDeadlock());
    fabric_.violation->place = PolledPlace();
    return;
  }
  fabric_.FlushAll();
  for (const Expectation& expectation : expectations_) {
    for (std::size_t i = 0; i < expectation.values.size(); ++i) {
      if (expectation.words[i] == expectation.values[i]) continue;
      Found(Property::kOutput, "rank " + std::to_string(expectation.rank) + "'s " +
                                   expectation.name + ", word " + std::to_string(i) +
                                   ": expected " + Hex(expectation.values[i]) + ", seen " +
                                   Hex(expectation.words[i]));
      fabric_.violation->wanted = expectation.values[i];
      fabric_.violation->rank = expectation.rank;
      return;
    }
  }
  fabric_.CheckNothingIsLeft();
  // Last: what comes of it says more.
  if (!lead_.empty()) Found(Property::kSlack, lead_);
}

ScheduleResult World::Run(Strategy& strategy, std::vector<Event>* trace) {
  strategy_ = &strategy;
  trace_ = trace;
  fabric_.on_event = nullptr;
  if (trace != nullptr) {
    fabric_.on_event = [this](int rank, const std::string& text) {
      trace_->push_back({steps_, rank, text});
    };
  }
  Reset();
  try {
    while (AdversaryThread* next = next_ != nullptr ? std::exchange(next_, nullptr) : Decide()) {
      Resume(*next);
    }
    if (!fabric_.violation && !given_up_) Finish();
  } catch (...) {
    Abandon();
    throw;
  }
  Abandon();
  return {fabric_.violation, steps_, given_up_};
}

}  // namespace mailbench
