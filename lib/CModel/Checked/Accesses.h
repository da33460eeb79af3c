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

/// `Lane`: a read of which each element affects its own elements of the result only, so an undefined element makes
/// these undefined but is no error by itself. `Pick`: a read whose undefined elements may not matter; those that a load
/// brought from unwritten global memory are an error. `Touch`: a write that leaves bytes undefined, outside the valid
/// region of a box. `Add`: an addition, a wait for a signal cell; `Set`: of a signal cell. Cores may do these to the
/// same bytes at any time.
enum class AccessKind : uint8_t { Read, Lane, Pick, Touch, Write, Add, Set };
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

/// A rectangle of a tile, in elements.
struct TileRect {
  uint64_t row, col, rows, cols;
};

/// The source of a Lane read: which element affects element (i, j) of dst, counted from the corners of the rectangles.
struct LaneSource {
  enum class Order : uint8_t { Same, Transposed, OfRow, OfColumn }; // (i, j), (j, i), (i, 0), (0, j)
  const isa::Tile *tile;                                            // null: the view of a load
  const isa::View *view;
  isa::Memory memory;
  TileRect rect;
  Order order = Order::Same;
};

/// The elements that Lane reads affect.
struct LaneResult {
  const isa::Tile *tile;
  isa::Memory memory;
  TileRect rect;
  /// Set if the memory belongs to another core of the group: its position.
  std::optional<size_t> peer = {};
};

/// The accesses of one instruction, reads before writes.
struct AccessList {
  std::vector<Access> accesses;
  std::vector<ByteRuns> runs;
  std::vector<LaneSource> lanes;
  LaneResult result; // of `lanes`, unless there are none
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
