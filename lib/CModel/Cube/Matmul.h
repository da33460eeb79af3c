// The one matrix product behind tmatmul, tmatmul_acc and tmatmul_bias.
#ifndef PTO_MLIR_CMODEL_MATMUL_H
#define PTO_MLIR_CMODEL_MATMUL_H

#include "Machine/Core.h"

namespace pto_mlir::cmodel {

/// dst = a x b, then + acc (when not null), then + bias row (when not null). Each f32 element is a chain of fused
/// multiply-adds over k ascending from 0; i8 sums in i32 and wraps. a: ZZ or NZ [m, k], b: ZN [k, n], dst and acc: NZ16
/// [m, n], bias: ND [1, n]. Only the valid m x n elements of dst are written.
void matmul(Core &core, const LocalTile &dst, const LocalTile *acc, const LocalTile &a, const LocalTile &b,
            const LocalTile *bias);

/// The same of fp8 or fp4 elements, each product multiplied by scalesA(i, k / 32) * scalesB(k / 32, j); every addition
/// is rounded to f32. A k that is no multiple of 32 leaves a last group of fewer elements (pto-isa 2.2: `mad` ignores
/// what its boxes hold beyond k).
void matmulScaled(Core &core, const LocalTile &dst, const LocalTile *acc, const LocalTile &a, const LocalTile &scalesA,
                  const LocalTile &b, const LocalTile &scalesB, const LocalTile *bias);

} // namespace pto_mlir::cmodel

#endif
