// The product of one row of f32 with a matrix that is read once: its boxes are transposed in registers, as packing them
// would write and read each weight once more.
#ifndef PTO_MLIR_CMODEL_ROWPRODUCT_H
#define PTO_MLIR_CMODEL_ROWPRODUCT_H

#include "Cube/MatmulKernel.h"
#include "Tiles/LocalTile.h"
#include "Tiles/Transpose.h"

namespace pto_mlir::cmodel {
namespace {

/// As productOfPanels for a task of one row, with the right operand `b` (ZN) in place of panels: the same operations on
/// each element in the same order. `t.step` is leftGroup.
inline void rowProduct(const MatmulTask<float> &t, const LocalTile &b) {
  constexpr uint32_t lanes = 8;
  using Sums = Vec<float, lanes>;
  for (uint32_t col = 0; col < t.cols; col += lanes) {
    Sums total = firstSum<float, lanes>(t, biasesFrom<float, lanes>(t, col), 0, col);
    const float *box = b.as<float>() + size_t(col) * leftGroup, *left = t.left;
    for (uint32_t k = 0; k < t.depth; k += leftGroup, box += size_t(b.cols) * leftGroup, left += t.leftStride) {
      Words8 columns[lanes];
      for (uint32_t i = 0; i < lanes; ++i)
        columns[i] = loadVector<Words8>(box + i * leftGroup);
      uint32_t rows[leftGroup * lanes];
      transposeEight(rows, lanes, columns);
      uint32_t count = t.depth - k < leftGroup ? t.depth - k : leftGroup;
      Sums sum = {};
      for (uint32_t i = 0; i < count; ++i)
        sum = multiplyAdd(splat<Sums>(left[i]), loadVector<Sums>(rows + i * lanes), sum);
      total = total + sum;
    }
    storeSum<float, lanes>(t, total, 0, col);
  }
}

} // namespace
} // namespace pto_mlir::cmodel

#endif
