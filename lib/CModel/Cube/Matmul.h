// The matrix product behind tmatmul, tmatmul_acc, tmatmul_bias and their mx forms.
#ifndef PTO_MLIR_CMODEL_MATMUL_H
#define PTO_MLIR_CMODEL_MATMUL_H

#include "Machine/Core.h"

namespace pto_mlir::cmodel {

/// dst = a x b, then + acc (if not null), then + bias row (if not null). f32: a chain of fused multiply-adds over k
/// ascending from 0; i8 accumulates in i32 and wraps. a: ZZ or NZ [m, k], b: ZN [k, n], dst and acc: NZ16 [m, n], bias:
/// ND [1, n]. Only the valid m x n elements of dst are written. Faults on shapes that do not agree.
void matmul(Core &core, const LocalTile &dst, const LocalTile *acc, const LocalTile &a, const LocalTile &b,
            const LocalTile *bias);

/// As matmul for fp8 or fp4 elements; each product is multiplied by scalesA(i, k / 32) * scalesB(k / 32, j), and every
/// addition is rounded to f32. If k is no multiple of 32, the last group is shorter (pto-isa 2.2: `mad` ignores box
/// elements beyond k).
void matmulScaled(Core &core, const LocalTile &dst, const LocalTile *acc, const LocalTile &a, const LocalTile &scalesA,
                  const LocalTile &b, const LocalTile &scalesB, const LocalTile *bias);

} // namespace pto_mlir::cmodel

#endif
