// The state of one simulated core while it runs a kernel: local memories, flags, FIFOs, engines and its access to
// global memory. The only interface of semantic functions (Insns/).
#ifndef PTO_MLIR_CMODEL_CORE_H
#define PTO_MLIR_CMODEL_CORE_H

#include "Cube/PanelCache.h"
#include "Machine/Engine.h"
#include "Machine/Fault.h"
#include "Tiles/LocalTile.h"
#include "pto_mlir/ISA/CrossFlags.h"
#include "pto_mlir/ISA/GlobalView.h"
#include "pto_mlir/ISA/Table.h"
#include "pto_mlir/Runtime/DeviceABI.h"

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>

namespace pto_mlir::cmodel {

using isa::CorePlace;
using isa::CrossFlags;
using isa::GlobalView;

struct Kernel;
class Observer;

/// State shared by all cores of a launch.
struct LaunchState {
  const Kernel *kernel = nullptr;
  uint32_t blocks = 1;
  std::span<const pto_arg> args;
  std::span<const int64_t> scalars;
};

/// Executed instructions, and bytes read from and written to global memory.
struct Counters {
  uint64_t instructions = 0, bytesRead = 0, bytesWritten = 0;

  Counters &operator+=(const Counters &other) {
    instructions += other.instructions;
    bytesRead += other.bytesRead;
    bytesWritten += other.bytesWritten;
    return *this;
  }
};

/// Cross-core flags carry no data in functional mode.
struct NoToken {};

/// A core of either kind; reused for many launches.
class Core {
public:
  /// A core of either kind on `arch`; memories are allocated on first use. `observer` may be null.
  explicit Core(isa::Arch arch, Observer *observer = nullptr);

  /// Runs the streams of this kind of core to their end and returns the fault, if any. Not for kernels with cross-core
  /// flags.
  std::optional<Fault> run(const LaunchState &launch, const CorePlace &place);

  // --- the phases of run, for cores that run together (CoreGroup) ---
  enum class Progress : uint8_t { Stuck, Moved, Ended };
  /// `cross`: the flags shared by the cores of the group (may be null); `position`: this core's index in the group.
  void begin(const LaunchState &launch, const CorePlace &place, CrossFlags<NoToken> *cross, size_t position);
  /// The cores of the group in order; valid until the next begin.
  void setGroup(std::span<const std::unique_ptr<Core>> cores) { group = cores; }
  /// The position in the group of the core of the same block that owns `memory` (UB: of vector core `subblock`).
  std::optional<size_t> peerWith(isa::Memory memory, uint32_t subblock) const;
  /// Runs each engine until it blocks or ends. Stuck: none executed an instruction. Undefined after a fault.
  Progress advance();
  /// Called when all streams have ended; a flag or FIFO that is not empty is a fault.
  std::optional<Fault> end();
  /// "M (word 3) waits for ..." for each blocked engine; `nameOf` names the cores of the group by position.
  std::string describeWaits(const std::function<std::string(size_t)> &nameOf);
  std::optional<Fault> takeFault() { return std::exchange(pending, std::nullopt); }
  /// Counters since begin; resets them.
  Counters takeCounters();

  // --- for semantic functions ---
  Engine &engine() { return *current; }
  const LaunchState &launch() const { return *state; }
  uint32_t block() const { return place.block; }
  uint32_t subblock() const { return place.subblock; }
  uint32_t subblocks() const { return isa::coresOf(arch, place.kind); }

  /// Resolves a tile operand. `data` is null after a fault: misaligned, out of range, or a valid region larger than the
  /// tile.
  LocalTile tile(const isa::Tile &operand, isa::Memory memory);
  /// As tile, for instructions that access the whole box of rows x cols, not only its valid region.
  LocalTile wholeTile(const isa::Tile &operand, isa::Memory memory);
  /// As tile (or wholeTile) in the memory of another core of the block: UB of vector core `subblock`, or L1 of the cube
  /// core. `data` is null, without a fault, if that core is not part of the launch.
  LocalTile peerTile(const isa::Tile &operand, isa::Memory memory, uint32_t subblock, bool whole = false);
  /// Resolves a view operand; `base` is null after a fault. The transfer checks the bounds of its accesses.
  GlobalView view(const isa::View &operand);

  /// Records a fault of the current instruction; only the first one is kept.
  void fault(FaultKind faultKind, std::string message);
  bool faulted() const { return pending.has_value(); }

  /// Flags between engines of the core, ids 0..7. Setting a set flag faults (in checked mode it blocks); waiting for a
  /// cleared one blocks the engine.
  void setFlag(isa::Pipe src, isa::Pipe dst, int64_t id);
  void waitFlag(isa::Pipe src, isa::Pipe dst, int64_t id);
  /// Cross-core flags. A raise beyond the maximum count, and a wait for a flag of 0, block the engine.
  void raiseCross(isa::CrossMode mode, int64_t id);
  void waitCross(int64_t id);
  std::deque<int64_t> &fifo(isa::Pipe engine) { return fifos[unsigned(engine) & 15]; }

  // --- for observers ---
  std::vector<Engine> &allEngines() { return engines; }
  isa::CoreKind coreKind() const { return place.kind; }
  /// Its index among the cores that run together.
  size_t position() const { return positionInGroup; }
  /// "AIC3", "AIV3.1": block and sub-block.
  std::string name() const;

  PanelCache leftPanels, rightPanels;
  Counters counters;

private:
  static constexpr unsigned numMemories = std::size(isa::kMemoryNames), numPipes = 16, numIds = isa::kNumFlagIds;
  struct Memory {
    std::unique_ptr<uint8_t[]> storage;
    uint8_t *data = nullptr;
    uint32_t size = 0, alignment = 1;
    uint32_t used = 0; // bytes that the current run may have written
  };
  static void allocate(Memory &m);

  LocalTile describe(const isa::Tile &operand);
  uint8_t *locate(isa::Memory memory, uint64_t address, uint64_t bytes);
  // Out of line, as every operand passes the two above.
  void faultOfShape(const isa::Tile &operand);
  void faultOfPlace(isa::Memory memory, uint64_t address, uint64_t bytes);
  void reset();
  void step(Engine &e);
  void observedStep(Engine &e);
  void deadlock();
  std::string describeWait(Engine &e, const std::function<std::string(size_t)> &nameOf);
  void finish();
  std::string engineName(isa::Pipe pipe) const;

  const isa::ArchInfo &arch;
  Observer *observer;
  Memory memories[numMemories];
  uint8_t flags[numPipes][numPipes][numIds];
  std::deque<int64_t> fifos[numPipes];
  std::vector<Engine> engines;
  Engine *current = nullptr;
  const LaunchState *state = nullptr;
  CorePlace place;
  CrossFlags<NoToken> *cross = nullptr;
  size_t positionInGroup = 0;
  std::span<const std::unique_ptr<Core>> group;
  std::optional<Fault> pending;
};

} // namespace pto_mlir::cmodel

#endif
