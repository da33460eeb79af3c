// The exact bytes that an instruction reads and writes.
#ifndef PTO_MLIR_CMODEL_CHECKED_ACCESSES_H
#define PTO_MLIR_CMODEL_CHECKED_ACCESSES_H

#include "Machine/Core.h"
#include "pto_mlir/Cost/GlobalMemory.h"
#include "pto_mlir/ISA/Codec.h"

#include <optional>
#include <vector>

namespace pto_mlir::cmodel {

using cost::ByteRuns;

/// `Lane`: a read of which each element affects one element of the result only, so an undefined element makes that
/// result undefined but is no error by itself. `Touch`: a write that leaves bytes undefined, outside the valid region
/// of a box. `Add`: an addition, a wait for a signal cell; `Set`: of a signal cell. Cores may do these to the same
/// bytes at any time.
enum class AccessKind : uint8_t { Read, Lane, Touch, Write, Add, Set };
inline bool isWrite(AccessKind kind) { return kind >= AccessKind::Touch; }
inline bool isAddition(AccessKind kind) { return kind >= AccessKind::Add; }

/// One access of an instruction; its byte ranges are AccessList::runs[firstRun, endRun).
struct Access {
  AccessKind kind;
  /// In global memory (device addresses), or in `memory` of the core (addresses from its start).
  bool global;
  isa::Memory memory;
  size_t firstRun, endRun;
  /// Set if the memory belongs to another core of the group: its position.
  std::optional<size_t> peer = {};
};

/// The accesses of one instruction, reads before writes.
struct AccessList {
  std::vector<Access> accesses;
  std::vector<ByteRuns> runs;
  /// The tiles of Lane reads, followed by dst; fewer than two if dst has no such sources.
  std::vector<const isa::Tile *> lanes;
  void clear() {
    lanes.clear();
    accesses.clear();
    runs.clear();
  }
};

/// Calls f(begin, length) for each run.
template <class F> void forRuns(const ByteRuns &runs, F &&f) {
  uint64_t at = runs.begin;
  for (uint64_t i = 0; i < runs.count; ++i, at += uint64_t(runs.pitch))
    f(at, runs.length);
}

/// Appends the byte runs of rows [row, row + rows) and columns [col, col + cols) of a tile (layouts: ISA/Operands.h).
void tileRuns(const isa::Tile &tile, uint64_t row, uint64_t col, uint64_t rows, uint64_t cols,
              std::vector<ByteRuns> &runs);

/// The accesses of `insn`, with registers resolved; it must execute on `core` without a fault. Of scalar instructions
/// only load_scalar has any.
void collectAccesses(const isa::DecodedInsn &insn, Core &core, AccessList &out);

} // namespace pto_mlir::cmodel

#endif
