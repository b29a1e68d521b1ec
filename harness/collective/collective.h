// What the harness knows of a collective: a name, its algorithms, its shapes, and how to make one
// algorithm ready to be called. A binary of the suite is one implementation of this interface.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/collective/shape.h"
#include "harness/collective/site.h"
#include "harness/command_line/run_config.h"
#include "harness/memory/symmetric_memory.h"
#include "harness/validate/check_result.h"

namespace mailbench {

class CallVerifier;
class Executor;
class Heartbeat;
class Ranks;
class Reference;
class Transport;
struct TracerOrRefusal;

struct AlgorithmInfo {
  std::string_view name;     // as in --algorithm
  std::string_view summary;  // one line for --list
  bool known_bad = false;    // runs only when named
  // Stores to all ranks at once where the transport can: `--transport auto` then prefers one.
  bool multicast = false;
  bool traced = false;  // its instances make tracers, where those can run
};

// A flag of the collective's own, beside those that every binary has.
struct FlagInfo {
  std::string_view name;                 // long name without dashes; also the config's key
  std::string_view summary;              // one line for --help
  std::string_view standard;             // the value when not given
  std::vector<std::string_view> values;  // the only values accepted
};

// Everything an algorithm may use. Outlives the instance.
struct InstanceContext {
  const RunConfig& config;
  const Ranks& ranks;
  Transport& transport;
  Executor& executor;
  Reference& reference;
  SymmetricView memory;  // SymmetricBytes of it, zeroed; empty where that is 0
};

// One algorithm, set up on one transport for every shape of a run. The calls of an instance are
// enqueued in one order, the same on every rank.
class Instance {
 public:
  virtual ~Instance() = default;

  // Makes the inputs and outputs of as many calls in flight as there are shapes: slot i is for
  // calls of shapes[i]. Collective; throws the same Error on every rank when it fails on any.
  // REQUIRES: at least one shape.
  virtual void Bind(std::span<const Shape> shapes) = 0;
  // Writes the payload of call number `call` into the slot's input, and poison into its output.
  virtual void Fill(int slot, std::uint64_t call) = 0;
  // Enqueues one call on the executor. REQUIRES: every rank enqueues the same calls.
  virtual void Enqueue(int slot) = 0;
  // Compares the slot's output with the reference for what was filled in. Collective. The result
  // is this rank's.
  virtual CheckResult Check(int slot) = 0;
  // Looks for what no call may leave behind. REQUIRES: no call is in flight on any rank.
  virtual CheckResult Audit() { return {}; }
  // What the mailbox shows of a call that is stuck, "" for nothing: a line or more for a diagnosis.
  // Called by another thread while this one is stuck in a call; touches nothing that calls change.
  virtual std::string DescribeWait() const { return ""; }
  // Inputs that the calls enqueued since Bind copy first, a call, because the
  // kernel cannot read them in place.
  virtual double input_copies_per_call() const { return 0; }
  // How often one call does what its latency is of: what is measured is divided by it.
  virtual int repeats() const { return 1; }
  // Collective. Makes the kernels that mark times ready for calls of what is bound, which is all of
  // one shape, numbered below `calls`; or says, in the same words on every rank, why there are none
  // or why they cannot run. Throws the same Error on every rank when it fails on any. Gone before
  // the next Bind, and before Free.
  virtual TracerOrRefusal MakeTracer(int calls);
  // Collective. Makes the calls of what is bound ready to be verified where they run, in batches of
  // so many consecutive slots; null, on every rank alike, where the collective has no such check.
  // Throws the same Error on every rank when it fails on any. Gone before the next Bind, and before
  // Free.
  virtual std::unique_ptr<CallVerifier> MakeVerifier(std::span<const int> batches);
  // Collective: gives back what Create took. The destructor alone communicates nothing.
  virtual void Free() {}
};

class Collective {
 public:
  virtual ~Collective() = default;

  virtual std::string_view name() const = 0;     // the binary's name
  virtual std::string_view summary() const = 0;  // one line
  // The first is the subject, the rest is what it is compared with.
  virtual std::span<const AlgorithmInfo> algorithms() const = 0;
  virtual std::span<const FlagInfo> flags() const { return {}; }
  // Whether the flags of sizes mean anything to it.
  virtual bool has_sizes() const { return true; }
  // Whether --stress does, which alternates sizes.
  virtual bool can_be_stressed() const { return has_sizes(); }

  // Whether its points are compared with the floor of the fabric, which is then measured first.
  virtual bool has_floor() const { return true; }

  virtual std::vector<Shape> Shapes(const RunConfig& config, int ranks) const = 0;
  // Why the algorithm cannot run there; nothing when it can. The same on every rank.
  virtual std::optional<std::string> UnsupportedReason(std::string_view algorithm,
                                                       const RunConfig& config,
                                                       const Site& site) const = 0;
  // Why it cannot run there with this shape, although it can with others.
  virtual std::optional<std::string> UnsupportedShape(std::string_view /*algorithm*/,
                                                      const Shape& /*shape*/,
                                                      const RunConfig& /*config*/,
                                                      const Site& /*site*/) const {
    return std::nullopt;
  }
  // Symmetric memory that the algorithm needs, in bytes of each rank's share; the same on every
  // rank. One region is divided among all algorithms of a run.
  virtual std::size_t SymmetricBytes(std::string_view /*algorithm*/, const RunConfig& /*config*/,
                                     const Site& /*site*/) const {
    return 0;
  }
  // Memory that an instance bound to `shapes` (see Instance::Bind) has taken of the executor or of
  // a library for it, in bytes of one rank.
  virtual std::size_t BufferBytes(std::string_view /*algorithm*/, std::span<const Shape> /*shapes*/,
                                  const RunConfig& /*config*/, const Site& /*site*/) const {
    return 0;
  }
  // Collective. Throws the same Error on every rank when it fails on any.
  virtual std::unique_ptr<Instance> Create(std::string_view algorithm,
                                           const InstanceContext& context) = 0;
};

}  // namespace mailbench
