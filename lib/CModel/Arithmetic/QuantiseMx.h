// MX quantisation: groups of 32 elements share a power-of-two scale (OCP microscaling formats).
#ifndef PTO_MLIR_CMODEL_QUANTISEMX_H
#define PTO_MLIR_CMODEL_QUANTISEMX_H

#include "Machine/Core.h"

namespace pto_mlir::cmodel {

/// Results of tquant_mx besides dst; `boxed`, the exponents in fractal layout, may be null.
struct MxScales {
  const LocalTile &exponents, &most, &scaling;
  const LocalTile *boxed;
};

/// Quantises src in groups of 32 elements along its rows (layout DN: along its columns); each element is multiplied by
/// the scale of its group and cast. Writes the exponent, largest magnitude and scale of each group at (row, group), in
/// layout DN at (group, column). Faults if a tile is too small or src is no float tile.
void quantiseMx(Core &core, const LocalTile &dst, const MxScales &scales, const LocalTile &src, isa::ScaleRule rule);

} // namespace pto_mlir::cmodel

#endif
