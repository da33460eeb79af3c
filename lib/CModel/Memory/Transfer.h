// Tile transfers between global and local memory, and between local memories.
#ifndef PTO_MLIR_CMODEL_TRANSFER_H
#define PTO_MLIR_CMODEL_TRANSFER_H

#include "Machine/Core.h"

namespace pto_mlir::cmodel {

/// dst(r, c) = view(r, c) over dst's valid region. Into NZ (ZN) the rest of the last 32-byte group of each valid row
/// (column) is zero-filled. Faults on different element types, a view smaller than dst, or an access outside the
/// argument.
void loadTile(Core &core, const LocalTile &dst, const GlobalView &view);

/// view(r, c) = src(r, c), or += when `add`, over src's valid region; element types are equal. Faults as loadTile.
void storeTile(Core &core, const GlobalView &view, const LocalTile &src, bool add);

/// view(r, c) = cast(relu(src(r, c))), or += when `add`; src is NZ16 of f32 or i32, the view f32, f16, bf16 or i32.
void storeAccumulator(Core &core, const GlobalView &view, const LocalTile &src, bool relu, bool add);

/// dst(r, c) = src(row + r, col + c) over dst's valid region, for any layouts and equal element types. May read
/// elements of src's box that are not valid.
void extractTile(Core &core, const LocalTile &dst, const LocalTile &src, int64_t row, int64_t col);

} // namespace pto_mlir::cmodel

#endif
