//===- Playback.h - When the engines of a launch do what they have to do ----===//
//
// Each engine works through its events in order, waits at flags and queues, and shares global memory with the other
// cores. The simulator's timing mode notes events as kernels run, the static estimate as it walks through their
// commands.
//
//===----------------------------------------------------------------------===//

#ifndef PTO_MLIR_COST_PLAYBACK_H
#define PTO_MLIR_COST_PLAYBACK_H

#include "pto_mlir/Cost/Cost.h"

#include <functional>
#include <span>
#include <vector>

namespace pto_mlir::cost {

/// What an engine does next. Costs are in cycles.
struct Event {
  enum Kind : uint8_t { Work, Signal, Await, CrossRaise, CrossAwait, CellNotify, CellAwait } kind = Work;
  GlobalPath path = GlobalPath::Local;
  bool depends = false; // on what its engine has not finished yet
  uint32_t op = 0;      // in its stream
  /// Of Signal and Await: a flag or a queue; of CrossRaise: mode << 8 | id; of CrossAwait: id; of cells: which one.
  uint32_t channel = 0;
  uint32_t note = 0; // of CellNotify: its number among those of the cell; of CellAwait: how many have to be there
  float head = 0, work = 0, tail = 0;
  uint64_t bytes = 0;
  uint32_t firstRun = 0, endRun = 0; // for whoever notes which bytes move
};

struct EngineLog {
  isa::Pipe pipe{};
  std::vector<Event> events;
};

struct CoreLog {
  isa::CoreKind kind{};
  uint32_t block = 0, subblock = 0;
  std::vector<EngineLog> engines;
};

/// Notes what one engine of a core does.
class Recorder {
public:
  Recorder(const ChipInfo &chip, EngineLog &log) : chip(chip), log(log) {}
  /// Notes an instruction, number `op` of its stream, whose registers are read unless it is plain scalar; null where
  /// there is nothing to note.
  Event *note(const isa::DecodedInsn &insn, uint32_t op);

private:
  bool dependsOnFresh(const isa::DecodedInsn &insn);

  const ChipInfo &chip;
  EngineLog &log;
  std::vector<std::pair<uint64_t, uint64_t>> fresh; // V: bytes of UB that were written since it was drained
};

/// Which cores of a launch raise flags on each other: those of a block, or all.
enum class Tied : uint8_t { Block, Launch };

/// Engines by number: S, MTE1, MTE2, MTE3, M, FIX of cube cores, then S, V, MTE2, MTE3 of vector cores.
inline constexpr unsigned kNumEngines = 10, kFirstVectorEngine = 6;
unsigned engineNumber(isa::CoreKind kind, isa::Pipe pipe);

struct Playback {
  double end = 0;
  /// Cycles; of one engine of those that are there at a time.
  double busy[kNumEngines] = {}, stalled[kNumEngines] = {};
  double reading = 0, writing = 0; // global memory; of all cores
  std::vector<double> coreSeconds; // in the order of the cores
};

/// What HBM moves in a launch per byte that its cores read and per byte that they write.
struct HbmTraffic {
  double perByteRead = 0, perByteWritten = 0;
};

/// Called for each piece of work with its core, its engine in the core, and when it begins and how long it takes, in
/// cycles.
using Span = std::function<void(size_t core, size_t engine, const Event &event, double begin, double duration)>;

/// Plays a launch that begins at cycle `begin`. How many cores move bytes at a time follows from how long that takes,
/// and the other way round: a few rounds settle it; `span` hears of the last.
Playback play(const ChipInfo &chip, std::span<const CoreLog> cores, Tied tied, HbmTraffic hbm, double begin,
              const Span &span = {});

/// What a launch did on one device of several.
struct RankLog {
  uint32_t rank = 0;
  std::span<const CoreLog> cores;
  Tied tied = Tied::Block;
  HbmTraffic hbm;
  std::span<const uint32_t> after; ///< launches that have to end before it begins, by index
};
struct RankPlayback {
  double begin = 0; ///< the launch itself included
  Playback work;
};
using RankSpans = std::function<Span(size_t launch)>;

/// Plays the launches of several devices from cycle `begin` on: those of a device one after another, the devices at the
/// same time, waits for cells as long as the notes that they need take. The blocks of a launch that notifies or waits
/// are all there at a time.
std::vector<RankPlayback> playRanks(const ChipInfo &chip, std::span<const RankLog> launches, double begin,
                                    const RankSpans &spans = {});

} // namespace pto_mlir::cost

#endif
