#include "kernels/lamport/mutants.h"

#include <utility>

#include "kernels/lamport/gather_threads.h"
#include "kernels/lamport/gather_world.h"
#include "kernels/lamport/rules.h"

namespace mailbench {
namespace {

struct OwnPollDropped : Faithful {
  static constexpr OwnSlot kOwnSlot = OwnSlot::kResetUnawaited;
};
struct OwnSlotForgotten : Faithful {
  static constexpr OwnSlot kOwnSlot = OwnSlot::kWriteOnly;
};
struct OwnSlotForgottenAtCallStride : OwnSlotForgotten {
  static constexpr bool kStrideIsCallSize = true;
};
struct OwnFromRegisterButAwaited : Faithful {
  static constexpr OwnSlot kOwnSlot = OwnSlot::kAwaitedForReset;
};
struct CallStride : Faithful {
  static constexpr bool kStrideIsCallSize = true;
};
struct ResetsNextGeneration : Faithful {
  static constexpr Reset kReset = Reset::kNext;
};
struct ResetsPreviousGeneration : Faithful {
  static constexpr Reset kReset = Reset::kPrevious;
};
struct ResetsPreviousByThisCallsExtent : Faithful {
  static constexpr Reset kReset = Reset::kPreviousExtent;
};
struct ResetsBeforeOutput : Faithful {
  static constexpr Reset kReset = Reset::kBeforeOutput;
};
struct ResetsNothing : Faithful {
  static constexpr Reset kReset = Reset::kNothing;
};
struct OneGeneration : Faithful {
  static constexpr std::uint32_t kGenerationsUsed = 1;
};
struct TwoGenerations : Faithful {
  static constexpr std::uint32_t kGenerationsUsed = 2;
};
struct PublishesWeakly : Faithful {
  static constexpr bool kPublishesWeakly = true;
};
struct TestsFirstWordOnly : Faithful {
  static constexpr int kPolledWords = 1;
};
// As a kernel does that was compiled with -ftz=true: a subnormal counts as a zero, and zeros of
// either sign as equal.
struct ComparesAsFloat : Faithful {
  static bool IsSentinel(std::uint32_t word) { return (word & 0x7f800000u) == 0; }
};
struct SanitisesNothing : Faithful {
  static constexpr bool kSanitises = false;
};
struct CountsEpochs : Faithful {
  static constexpr bool kCountsEpochs = true;
};
struct SkipsWait : Faithful {
  static constexpr bool kWaits = false;
};
struct ReadsInputBeforeWait : Faithful {
  static constexpr bool kReadsInputBeforeWait = true;
};
struct ReadsGenerationBeforeWait : Faithful {
  static constexpr bool kReadsGenerationBeforeWait = true;
};
struct TriggersBeforeWait : Faithful {
  static constexpr bool kTriggersBeforeWait = true;
};
struct HostComputesGeneration : Faithful {
  static constexpr bool kHostComputesGeneration = true;
};
struct CountsBeforeReading : Faithful {
  static constexpr bool kCountsBeforeReading = true;
};
struct GoesOnWithoutBarrier : Faithful {
  static constexpr bool kBarrierAfterReading = false;
};
struct ArrivesWithoutBarrier : Faithful {
  static constexpr bool kBarrierBeforeArrival = false;
};
struct AdvancesAtFirstArrival : Faithful {
  static constexpr bool kAdvancesAtFirstArrival = true;
};
struct ArrivesRelaxed : Faithful {
  static constexpr Arrival kArrival = Arrival::kRelaxed;
};
struct LeavesCount : Faithful {
  static constexpr bool kClearsCount = false;
};

template <class Rules>
Model Lamport(std::string name, std::string summary, const GatherTraits& traits = {}) {
  return GatherModel(std::move(name), std::move(summary), &LamportThread<Rules>, traits);
}

template <class Rules>
Model Overlapped(std::string name, std::string summary, const GatherTraits& traits = {}) {
  return GatherModel(std::move(name), std::move(summary), &OverlappedThread<Rules>, traits);
}

// Every third word is the sentinel.
std::uint32_t WordOrSentinel(int rank, std::size_t call, std::size_t index) {
  return index % 3 == 1 ? kSentinel : GatherWord(rank, call, index);
}

// Floating-point numbers of ordinary size, and a negative subnormal: two BF16, 0x8001 the upper.
std::uint32_t WordOrSubnormal(int rank, std::size_t call, std::size_t index) {
  const std::uint32_t word = GatherWord(rank, call, index);
  return index % 4 == 2 ? 0x80010000u | (word & 0xffffu) : 0x40000000u | word;
}

constexpr std::uint32_t kLastEpoch = 0xffffffffu;

// Mailboxes that need not be clean in the end: judged by the outputs.
GatherTraits Dirty() { return {.one_shot = false}; }

std::vector<Mutant> KilledMutants() {
  const auto biased = StrategyKind::kBiased;
  const auto pct = StrategyKind::kPct;
  const auto exhaustive = StrategyKind::kExhaustive;
  const Scenario two{.sizes = {1, 1}};
  const Scenario four{.sizes = {1, 1, 1, 1}};
  const Scenario changing{.sizes = {1, 2, 1, 2, 1, 2}};
  const auto killed = [](Model model, std::string why, const Scenario& scenario,
                         StrategyKind strategy, std::uint64_t schedules, Property property,
                         const WorldRules& rules = {}) {
    return Mutant{std::move(model), Fate::kKilled, std::move(why), scenario, rules,
                  strategy,         schedules,     property};
  };
  return {
      killed(
          Lamport<OwnPollDropped>("own-poll-dropped", "the own pack is known, so why poll for it"),
          "the reset of the own slot meets the multicast copy that is still on its way", two,
          exhaustive, 10'000, Property::kRace),
      killed(Lamport<OwnPollDropped>("own-poll-dropped-and-races-ignored",
                                     "the same, where the reset of the own slot is no race",
                                     {.cleaned_blindly = true}),
             "the own copy lands after its slot has been reset: L1", two, biased, 10,
             Property::kLeftover),
      killed(Lamport<OwnSlotForgotten>("own-slot-forgotten",
                                       "the own pack comes from a register, its slot is left"),
             "the own copy stays in the mailbox: L1", two, biased, 10, Property::kLeftover),
      killed(Lamport<OwnSlotForgottenAtCallStride>(
                 "own-slot-forgotten-at-call-stride",
                 "register self-slot and size-dependent stride, as in vLLM's "
                 "mnnvl_lamport_all_gather, which resets the slot, but unawaited",
                 Dirty()),
             "the own copy of one call lies where another call expects another rank's pack",
             changing, pct, 1'000, Property::kOutput),
      killed(Lamport<ResetsNextGeneration>("resets-next-generation",
                                           "the older mnnvl: cleans the stage that comes next"),
             "erases what a faster peer has published for the next call", two, biased, 1'000,
             Property::kRace),
      killed(Lamport<ResetsPreviousByThisCallsExtent>(
                 "resets-previous-by-this-calls-extent",
                 "clearing this call's extent when the stage's last use was larger", Dirty()),
             "a pack of the larger call is left and taken three calls later",
             {.sizes = {2, 1, 1, 2}}, biased, 1'000, Property::kOutput),
      killed(Lamport<ResetsNothing>("resets-nothing", "the reset skipped"),
             "payload of the first call is left", two, biased, 10, Property::kLeftover),
      killed(Lamport<OneGeneration>("one-generation", "one stage instead of three"),
             "a peer one call ahead publishes into slots that have yet to be reset", two, biased,
             1'000, Property::kRace),
      killed(Lamport<PublishesWeakly>("publishes-weakly",
                                      "the older mnnvl: a weak store to the multicast address"),
             "whoever polls races with it", two, biased, 10, Property::kRace),
      killed(Lamport<PublishesWeakly>("publishes-weakly-by-unicast",
                                      "a weak store to each rank's mailbox"),
             "whoever polls races with it", {.sizes = {1, 1}, .multicast = false}, biased, 10,
             Property::kRace),
      killed(Lamport<TestsFirstWordOnly>("tests-first-word-only", "sentinel test of word 0"),
             "a pack is taken, and its slot reset, while words of it are on their way", two, pct,
             1'000, Property::kRace),
      killed(Lamport<ComparesAsFloat>("compares-as-float",
                                      "floating-point comparison under -ftz=true: 0x8001xxxx",
                                      {.word = &WordOrSubnormal}),
             "a subnormal is awaited for ever", two, biased, 10, Property::kEndless),
      killed(Lamport<SanitisesNothing>("sanitises-nothing", "-0.0 in the input",
                                       {.word = &WordOrSentinel}),
             "a word that looks as if it had not arrived is awaited for ever", two, biased, 10,
             Property::kDeadlock),
      killed(Lamport<CountsEpochs>("epoch-wraps", "an unbounded epoch modulo 3, at 2^32",
                                   {.first_generation = kLastEpoch}),
             "epochs 2^32 - 1 and 0 are both 0 modulo 3: one generation, for once", two, biased,
             1'000, Property::kRace),
      killed(Lamport<SkipsWait>("skips-wait",
                                "a trigger before the reset, which the next call does not await"),
             "two calls of a rank use one generation", two, biased, 100, Property::kOverrun),
      killed(Overlapped<SkipsWait>("overlapped-skips-wait", "the same of overlapped"),
             "two calls of a rank use one generation", two, biased, 100, Property::kOverrun),
      killed(Lamport<ReadsInputBeforeWait>("reads-input-before-wait",
                                           "the load of the input hoisted above the wait"),
             "the producer has yet to write it", {.sizes = {1, 1}, .producer = true}, biased, 1'000,
             Property::kOutput),
      killed(Overlapped<ReadsGenerationBeforeWait>("reads-generation-before-wait",
                                                   "the load of the generation hoisted"),
             "two calls use one generation: one rank's threads overtake its own advance", four,
             biased, 1'000, Property::kRace),
      killed(Lamport<TriggersBeforeWait>("triggers-before-wait-on-shared-gpu",
                                         "a trigger at the kernel's beginning, ranks share a GPU"),
             "a rank's later calls take the places that its peer needs", {.sizes = {1, 1, 1, 1, 1}},
             biased, 100, Property::kDeadlock, {.resident_ctas = 4, .shared_gpu = true}),
      killed(Lamport<HostComputesGeneration>("host-generation-in-graph",
                                             "host-side parity baked into a CUDA graph",
                                             {.host_generation = true}),
             "replays of one call have one generation", {.sizes = {1}, .replays = 3}, biased, 1'000,
             Property::kRace),
      killed(Lamport<CountsBeforeReading>("counts-before-reading",
                                          "arrival counted before the generation is read"),
             "the last CTA advances the generation before another has read it", {.sizes = {2, 2}},
             pct, 1'000, Property::kDeadlock),
      killed(Lamport<GoesOnWithoutBarrier>("goes-on-without-barrier",
                                           "no barrier after the CTA's first thread has read the "
                                           "generation"),
             "the other threads use the generation before it is there: 0, call after call",
             {.sizes = {2, 2}, .threads = 2}, biased, 100, Property::kOverrun),
      killed(Overlapped<ArrivesWithoutBarrier>("arrives-without-barrier",
                                               "arrival without a barrier: threads of the CTA have "
                                               "yet to read the generation"),
             "a thread reads the generation that has already been advanced",
             {.sizes = {2, 2}, .threads = 2}, pct, 1'000, Property::kDeadlock),
      killed(Lamport<AdvancesAtFirstArrival>("advances-at-first-arrival",
                                             "advance before the count is complete"),
             "CTAs of one call use two generations", {.sizes = {2, 2}}, pct, 1'000,
             Property::kDeadlock),
      killed(Lamport<LeavesCount>("leaves-count", "the count not cleared"),
             "no later call advances: from then on there is one generation", {.sizes = {1, 1, 1}},
             biased, 1'000, Property::kOverrun),
      killed(Lamport<Faithful>("two-streams", "one instance called from two streams"),
             "calls overlap: they count and use one generation at once",
             {.sizes = {1, 1, 1, 1}, .streams = 2}, biased, 1'000, Property::kOverrun),
      killed(
          Lamport<Faithful>("two-instances-share-state",
                            "two instances, each on its stream, with one state", {.mailboxes = 2}),
          "a call is counted for another: CTAs of one call use two generations",
          {.sizes = {1, 1, 1, 1}, .streams = 2}, biased, 1'000, Property::kDeadlock),
  };
}

std::vector<Mutant> SurvivingMutants() {
  const auto survives = [](Model model, std::string why, const Scenario& scenario,
                           Fate fate = Fate::kBenign) {
    return Mutant{std::move(model),      fate,  std::move(why),   scenario, {},
                  StrategyKind::kBiased, 1'000, Property::kOutput};
  };
  const auto grade = [](Model model, std::string why, const Scenario& scenario, int lag,
                        Property property) {
    return Mutant{std::move(model), Fate::kGrade,          std::move(why), scenario,
                  {.lag = lag},     StrategyKind::kBiased, 1'000,          property};
  };
  const Scenario four{.sizes = {1, 1, 1, 1}};
  const Scenario changing{.sizes = {1, 2, 1, 2, 1, 2}};
  return {
      survives(Lamport<OwnSlotForgotten>("own-from-register", "register self-slot alone", Dirty()),
               "with the capacity as stride nobody ever reads the own slot: it is write-only",
               changing),
      survives(Lamport<CallStride>("call-stride", "size-dependent stride alone"),
               "every call awaits and resets all it published: no word is left to be misread",
               changing),
      survives(Lamport<OwnFromRegisterButAwaited>("own-from-register-but-awaited",
                                                  "the output gets the own pack from a register"),
               "the own copy is awaited before its slot is reset: L3 holds", changing),
      survives(Lamport<ResetsBeforeOutput>("resets-before-output",
                                           "the reset before the store to the output"),
               "the pack is in registers, and nobody publishes into the slot for two calls",
               changing),
      survives(Lamport<CountsEpochs>("epoch-far-from-wrap", "an unbounded epoch modulo 3"),
               "it is right until 2^32 calls have been made", changing),
      survives(Lamport<TriggersBeforeWait>("triggers-before-wait",
                                           "a trigger at the kernel's beginning, own GPU"),
               "what starts early waits before it touches anything, and takes no peer's place",
               changing),
      survives(Lamport<HostComputesGeneration>("host-generation-in-graph-of-three",
                                               "host-side parity baked into a graph of 3 calls",
                                               {.host_generation = true}),
               "a multiple of the generations goes on where the replay before ended",
               {.sizes = {1, 1, 1}, .replays = 2}),
      survives(Overlapped<ArrivesWithoutBarrier>("arrives-without-barrier-alone",
                                                 "arrival without a barrier, one thread a CTA"),
               "the only thread has read the generation before it counts", changing),
      survives(Lamport<Faithful>("two-instances-share-state-on-one-stream",
                                 "two instances with one state, one stream", {.mailboxes = 2}),
               "calls do not overlap, and a generation's slots are used even less often", changing),
      survives(
          Lamport<ArrivesRelaxed>("arrives-relaxed", "arrival without release"),
          "the count does not depend on the load of the generation, so nothing orders the two: "
          "a GPU may read what the last CTA has stored. This machine keeps a thread's order",
          changing, Fate::kNotShown),
      grade(Lamport<TwoGenerations>("two-generations", "two stages instead of three"),
            "right when a grid's end makes its resets visible; one call late, the reset erases "
            "what a peer has published by then: the third generation buys this call",
            four, 1, Property::kRace),
      grade(Lamport<ResetsPreviousGeneration>("resets-previous-generation",
                                              "the newer mnnvl: cleans the previous call's stage",
                                              Dirty()),
            "the reset comes a call late by design, which spends the call of slack that the third "
            "generation buys",
            {.sizes = {1, 1, 1, 1, 1}}, 1, Property::kRace),
      grade(Lamport<Faithful>("lamport", "the shipped gather"),
            "three generations leave room for resets one call late, not two",
            {.sizes = {1, 1, 1, 1, 1}}, 2, Property::kRace),
  };
}

}  // namespace

std::vector<Mutant> LamportMutants() {
  std::vector<Mutant> mutants = KilledMutants();
  for (Mutant& mutant : SurvivingMutants()) mutants.push_back(std::move(mutant));
  return mutants;
}

}  // namespace mailbench
