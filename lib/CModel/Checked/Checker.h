// The checked mode: a happens-before race detector over the accesses of all engines, ordered by flags and queues, and a
// detector of undefined reads.
#ifndef PTO_MLIR_CMODEL_CHECKED_CHECKER_H
#define PTO_MLIR_CMODEL_CHECKED_CHECKER_H

#include "Checked/Accesses.h"
#include "Checked/Shadow.h"
#include "Checked/Signals.h"
#include "Checked/TaskRaces.h"
#include "Machine/Observer.h"
#include "Machine/Program.h"

#include <deque>
#include <map>
#include <optional>

namespace pto_mlir::cmodel {

/// Keeps a vector clock per engine. set_flag, push, cross_set and notify publish the clock, the matching waits join it;
/// an access that conflicts with one that did not happen before it is a race. In a run of several devices launches of
/// one device are ordered, and those that have to end before others begin.
class Checker : public Observer {
public:
  explicit Checker(isa::Arch arch) : arch(arch) {}

  void allocated(uint64_t address, uint64_t bytes) override;
  void released(uint64_t address) override;
  void copiedToDevice(uint64_t address, uint64_t bytes) override;
  std::string copiesFromDevice(uint64_t address, uint64_t bytes) override;
  bool judgesFlags() const override { return true; }
  void nextLaunch(uint32_t task, std::span<const uint32_t> others) override { tasks.next(task, others); }
  void launchBegin(const LaunchState &launch) override;
  void launchEnd(const LaunchState &launch, pto_profile &cost) override;
  std::string ranksBegin(std::span<const RankLaunch> launches) override;
  void rankTurn(size_t launch) override;
  void rankLaunchEnd(size_t launch) override;
  void ranksEnd(std::span<pto_profile> costs) override;
  void groupBegin(const std::vector<CorePlace> &places) override;
  void coreBegin(Core &core) override;
  void before(Core &core, const Op &op) override;
  void after(Core &core, const Op &op) override;

private:
  static constexpr unsigned numMemories = std::size(isa::kMemoryNames), numPipes = 16, numIds = isa::kNumFlagIds;

  struct Block {
    uint64_t bytes;
    DefinedShadow defined;
  };
  /// Global memory that some stream of the launch writes.
  struct Region {
    uint64_t begin, end;
    AccessShadow accesses;
  };
  struct Local {
    std::optional<DefinedShadow> defined;
    std::optional<AccessShadow> accesses;
  };
  struct Flag {
    uint64_t core = 0;     // the core of the state below, numbered over all launches
    Clock raised;          // clock of the setting engine
    uint32_t consumed = 0; // time of the waiting engine at its last wait
  };
  /// A core of the running group.
  struct CoreState {
    Local locals[numMemories];
    Clock clocks[maxEngines];
    std::vector<Flag> flags = std::vector<Flag>(numPipes * numPipes * numIds);
    std::deque<Clock> queues[numPipes]; // clock of S at each push
    uint64_t core = 0;                  // numbered over all launches
    std::vector<Event> crossTaken[CrossFlags<Clock>::numIds];
    uint32_t crossRaised[CrossFlags<Clock>::numIds] = {};
  };
  struct CoreLog {
    /// A launch in which the core took part.
    struct Stay {
      const Kernel *kernel;
      std::vector<const Stream *> streams;
      std::array<uint32_t, maxEngines> first; // per engine: its events in earlier launches
    };
    std::string name;
    std::vector<Stay> stays;
    std::array<std::vector<uint32_t>, maxEngines> ops; // per engine: op index of each event

    /// The launch of an event of this core.
    const Stay &stayOf(const Event &event) const;
  };
  /// The bytes of a launch's argument.
  struct Argument {
    uint64_t begin, end;
    bool isWritten;
  };
  /// A device of several.
  struct Rank {
    uint32_t number = 0;
    size_t firstCore = 0, numCores = 0; // in the group; of the launch that it runs
    Clock known;                        // when its next launch begins
    CrossFlags<Clock> crossFlags;
  };
  struct RankedLaunch {
    size_t rank; // its place in `ranks`
    std::span<const uint32_t> after;
    bool isAwaited;
    Clock end; // where others wait for it
  };

  /// A load from unwritten global memory, and the first instruction that computed with it on the way to some bytes.
  struct Unwritten {
    Event load;
    std::string place;
    std::optional<Event> computed = {};
  };
  /// Bytes of the result that undefined elements affect; `load`: DefinedShadow::loadOf.
  struct UndefinedLane {
    uint64_t begin, bytes;
    uint32_t load;
  };

  static void addArguments(const LaunchState &launch, std::vector<Argument> &arguments);
  void makeRegions(std::vector<Argument> arguments);
  void rankGroupBegin(const std::vector<CorePlace> &places);
  CrossFlags<Clock> &crossFlagsOfGroup();
  void notify(Core &core, const isa::Notify &insn);
  void accesses(Core &core);
  void access(Core &core, const Access &what);
  Flag &flag(isa::Pipe src, isa::Pipe dst, int64_t id);
  void setFlag(Core &core, isa::Pipe src, isa::Pipe dst, int64_t id);
  void waitFlag(isa::Pipe src, isa::Pipe dst, int64_t id);
  void raiseCross(Core &core, isa::CrossMode mode, unsigned id);
  void waitCross(unsigned id);
  Clock &clock() { return state->clocks[engine]; }
  Known known() { return {clock().data(), firstEngine}; }
  /// The current event of the executing engine.
  Event now() {
    return {uint32_t((cores.size() - groupSize + position) * maxEngines + engine),
            clock()[position * maxEngines + engine]};
  }
  std::optional<uint64_t> firstUndefined(const Access &what, const ByteRuns &runs);
  DefinedShadow &definedOf(size_t core, isa::Memory memory);
  void findUndefinedLanes(Core &core);
  void markUndefinedLanes();
  uint32_t loadOfLane(Core &core, const LaneSource &source, uint64_t byte, std::map<uint32_t, uint32_t> &seen);
  void undefined(Core &core, const Access &what, uint64_t byte);
  void race(Core &core, const Access &what, const Conflict &conflict);
  void taskRace(Core &core, const Access &what, const ByteRuns &runs);
  std::string describe(const Event &event);
  /// "rank 1, kernel 'k', " of an event of another device; else empty.
  std::string launchOf(const Event &event) const;
  std::string place(const Core &core, const Access &what, uint64_t byte) const;
  Block *blockOf(uint64_t address);

  isa::Arch arch;
  TaskRaces tasks;
  std::map<uint64_t, Block> blocks; // by address
  std::pair<const uint64_t, Block> *lastBlock = nullptr;

  // --- state of a launch ---
  std::vector<Region> regions;
  std::vector<CoreLog> cores;

  // --- state of the group of cores that run together ---
  std::vector<CoreState> states;
  size_t groupSize = 0;
  uint32_t firstEngine = 0; // of the group
  Clock groupKnows;         // of what happened before it began
  CrossFlags<Clock> crossFlags;
  Signals signals;
  std::vector<Unwritten> unwritten; // by number of the load, from 1
  uint64_t coresSoFar = 0;

  // --- state of a run of several devices; empty in other launches ---
  std::vector<Rank> ranks; // by number
  std::vector<RankedLaunch> rankLaunches;
  size_t current = 0;   // launch
  size_t firstCore = 0; // of the group: where the cores of this launch begin

  // --- state of the executing engine ---
  CoreState *state = nullptr;
  size_t position = 0; // of its core in the group
  unsigned engine = 0;

  // --- state of the instruction ---
  isa::DecodedInsn resolved;
  AccessList list;
  std::vector<UndefinedLane> undefinedLanes;
};

} // namespace pto_mlir::cmodel

#endif
