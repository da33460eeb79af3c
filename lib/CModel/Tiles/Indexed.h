// Gather and scatter of global memory: maps indices to elements of a view.
#ifndef PTO_MLIR_CMODEL_INDEXED_H
#define PTO_MLIR_CMODEL_INDEXED_H

#include "Machine/Core.h"
#include "Tiles/Map.h"

namespace pto_mlir::cmodel {

/// Handling of an out-of-bounds index: fault, last element, remainder, or offset -1 (Leave).
enum class Beyond { Fault, Clamp, Wrap, Leave };
/// Indexed by isa::GatherBounds.
inline constexpr Beyond gatherBeyond[] = {Beyond::Fault, Beyond::Clamp, Beyond::Wrap, Beyond::Leave};

/// Rows and columns of the index operand.
struct IndexShape {
  __int128 rows, cols;
};

/// Calls access(r, c, offset, n) for runs of n contiguous elements over the tile's valid region in order (a row, or one
/// element). `offset` is the element offset in the view, or -1 for an out-of-bounds index with Beyond::Leave. By
/// element, an index is an element offset from the view's base, regardless of strides; by row, the r-th index selects a
/// row. Indices are unsigned. `indexAt(r, c)` reads an index.
template <class Index, class F>
void forIndexed(Core &core, const GlobalView &view, const LocalTile &tile, IndexShape indices, Index indexAt,
                bool byRow, Beyond beyond, F access) {
  if (byRow ? indices.rows * indices.cols < tile.validRows
            : indices.rows < tile.validRows || indices.cols < tile.validCols)
    return core.fault(FaultKind::IllegalShape, "there are fewer indices than the tile needs");
  if (byRow && view.cols() < tile.validCols)
    return core.fault(FaultKind::IllegalShape, "a row of the view has fewer columns than the tile");
  __int128 count = byRow ? view.rows() : view.rows() * view.cols();
  uint32_t run = byRow && view.layout == isa::Layout::ND && view.stride(0) == 1 ? tile.validCols : 1;
  for (uint32_t r = 0; r < tile.validRows; ++r)
    for (uint32_t c = 0; c < tile.validCols; c += run) {
      auto index = uint64_t(byRow ? indexAt(uint32_t(r / indices.cols), uint32_t(r % indices.cols)) : indexAt(r, c));
      if (core.faulted())
        return;
      if (count > 0 && beyond == Beyond::Clamp)
        index = __int128(index) < count ? index : uint64_t(count - 1);
      if (count > 0 && beyond == Beyond::Wrap)
        index = uint64_t(__int128(index) % count);
      bool inside = __int128(index) < count;
      if (!inside && beyond == Beyond::Leave) {
        access(r, c, int64_t(-1), run);
        continue;
      }
      int64_t at = inside ? byRow ? view.offset(int64_t(index), c) : int64_t(index) : -1;
      if (!inside || !view.contains(at, run, 1, 1, 0))
        return core.fault(FaultKind::OutOfRange, "index " + std::to_string(int64_t(index)) + " for element (" +
                                                     std::to_string(r) + ", " + std::to_string(c) +
                                                     ") leaves the view");
      access(r, c, at, run);
    }
}

/// As above, with a tile of indices.
template <class F>
void forIndexed(Core &core, const GlobalView &view, const LocalTile &tile, const LocalTile &indices, bool byRow,
                Beyond beyond, F access) {
  forIndexed(
      core, view, tile, {indices.validRows, indices.validCols},
      [&](uint32_t r, uint32_t c) { return getWide<int64_t>(indices, r, c); }, byRow, beyond, access);
}

} // namespace pto_mlir::cmodel

#endif
