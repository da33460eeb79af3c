// Groups of 32 elements with a power of two as their common scale.
#ifndef PTO_MLIR_CMODEL_QUANTISEMX_H
#define PTO_MLIR_CMODEL_QUANTISEMX_H

#include "Machine/Core.h"

namespace pto_mlir::cmodel {

/// What tquant_mx writes beside dst; `boxed` may be null.
struct MxScales {
  const LocalTile &exponents, &most, &scaling;
  const LocalTile *boxed;
};

/// dst = src in groups of 32 along the rows of src, in layout DN along its columns, each multiplied by its scale and
/// cast; writes the groups' exponents, greatest magnitudes and scales at (row, group), in layout DN at (group, column).
void quantiseMx(Core &core, const LocalTile &dst, const MxScales &scales, const LocalTile &src, isa::ScaleRule rule);

} // namespace pto_mlir::cmodel

#endif
