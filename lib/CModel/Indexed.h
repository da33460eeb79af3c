// Global memory by index: which element of a view an index names.
#ifndef PTO_MLIR_CMODEL_INDEXED_H
#define PTO_MLIR_CMODEL_INDEXED_H

#include "Core.h"
#include "Map.h"

namespace pto_mlir::cmodel {

enum class Beyond { Fault, Clamp, Wrap, Leave };

/// Calls access(r, c, element offset in the view, or -1 for an index that is beyond the view and stays there, n) for runs of n elements that
/// are neighbours on both sides, over the tile's valid region in order: a row, or one element. By element an index counts from the view's first element, whatever the strides; by rows the r-th index
/// of the tile names a row. A negative index is a huge one.
template <class F>
void forIndexed(Core &core, const GlobalView &view, const LocalTile &tile, const LocalTile &indices, bool byRow, Beyond beyond, F access) {
  uint32_t indexCols = indices.validCols;
  if (byRow ? uint64_t(indices.validRows) * indexCols < tile.validRows : indices.validRows < tile.validRows || indexCols < tile.validCols)
    return core.fault(FaultKind::IllegalShape, "there are fewer indices than the tile needs");
  if (byRow && view.cols() < tile.validCols)
    return core.fault(FaultKind::IllegalShape, "a row of the view has fewer columns than the tile");
  __int128 count = byRow ? view.rows() : view.rows() * view.cols();
  uint32_t run = byRow && view.layout == isa::Layout::ND && view.stride(0) == 1 ? tile.validCols : 1;
  for (uint32_t r = 0; r < tile.validRows; ++r)
    for (uint32_t c = 0; c < tile.validCols; c += run) {
      auto index = uint64_t(byRow ? getWide<int64_t>(indices, r / indexCols, r % indexCols) : getWide<int64_t>(indices, r, c));
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
        return core.fault(FaultKind::OutOfRange, "index " + std::to_string(int64_t(index)) + " for element (" + std::to_string(r) + ", " +
                                                     std::to_string(c) + ") leaves the view");
      access(r, c, at, run);
    }
}

} // namespace pto_mlir::cmodel

#endif
