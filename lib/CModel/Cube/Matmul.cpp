// The matrix product: checks shapes, packs the operands into panels and runs the widest micro-kernel of this machine.
#include "Cube/Matmul.h"
#include "pto_mlir/Support/MathExtras.h"

#include "Arithmetic/SmallFloat.h"
#include "Cube/MatmulKernel.h"
#include "Cube/Panels.h"
#include "Cube/RowProduct.h"
#include "Tiles/MapLine.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace pto_mlir::cmodel {
namespace {

const MatmulKernel &matmulKernel() {
  static const MatmulKernel kernel = [] {
#if defined(PTO_HAVE_AVX512_KERNEL)
    if (__builtin_cpu_supports("x86-64-v4"))
      return matmulKernelAvx512();
#endif
    return MatmulKernel{8, productOfPanels<float, 8>, productOfPanels<int32_t, 8>};
  }();
  return kernel;
}

/// Values of k that the cube core multiplies at a time, a row of a box. Integers wrap: their order does not matter.
template <class A, class C> constexpr uint32_t productStep() {
  return std::is_same_v<C, float> ? 32 / sizeof(A) : roundUp(isa::kMostProductExtent, leftGroup);
}

template <class A, class B, class C>
void product(Core &core, const LocalTile &dst, const LocalTile *acc, const LocalTile &a, const LocalTile &b,
             const LocalTile *bias) {
  const MatmulKernel &kernel = matmulKernel();
  MatmulTask<C> task;
  task.rows = dst.validRows;
  task.cols = dst.validCols;
  task.depth = a.validCols;
  task.step = productStep<A, C>();
  packLeft<A, C>(task, core.leftPanels, a);
  task.dst = dst.as<C>();
  task.dstRows = dst.rows;
  if (acc) {
    task.acc = acc->as<C>();
    task.accRows = acc->rows;
  }
  if (bias)
    task.bias = bias->as<C>();
  if constexpr (std::is_same_v<A, float>)
    if (task.rows == 1 && core.rightPanels.isNew(b))
      return rowProduct(task, b);
  packRight<B, C>(task, core.rightPanels, b, kernel.lanes);
  if constexpr (std::is_same_v<C, float>)
    kernel.floats(task);
  else
    kernel.integers(task);
}

// Checks that the shapes of the operands agree; faults otherwise.
bool shapesAgree(Core &core, const LocalTile &dst, const LocalTile *acc, const LocalTile &a, const LocalTile &b,
                 const LocalTile *bias) {
  if (a.validCols != b.validRows || dst.validRows != a.validRows || dst.validCols != b.validCols ||
      (acc && (acc->validRows < dst.validRows || acc->validCols < dst.validCols)) ||
      (bias && bias->validCols < dst.validCols)) {
    auto shape = [](const LocalTile &t) { return std::to_string(t.validRows) + "x" + std::to_string(t.validCols); };
    core.fault(FaultKind::IllegalShape, "product of " + shape(a) + " and " + shape(b) + " into " + shape(dst) +
                                            (acc ? " with accumulator " + shape(*acc) : "") +
                                            (bias ? " with bias " + shape(*bias) : ""));
    return false;
  }
  if (uint32_t most = std::max({dst.validRows, dst.validCols, a.validCols}); most > isa::kMostProductExtent) {
    core.fault(FaultKind::IllegalShape, "m, k and n of a product are at most " +
                                            std::to_string(isa::kMostProductExtent) + ", got " + std::to_string(most));
    return false;
  }
  return true;
}

} // namespace

void matmul(Core &core, const LocalTile &dst, const LocalTile *acc, const LocalTile &a, const LocalTile &b,
            const LocalTile *bias) {
  if (!shapesAgree(core, dst, acc, a, b, bias))
    return;
  switch (a.type) {
  case isa::ElementType::f32:
    return product<float, float, float>(core, dst, acc, a, b, bias);
  case isa::ElementType::f16:
    return product<Half, Half, float>(core, dst, acc, a, b, bias);
  case isa::ElementType::bf16:
    return product<BFloat, BFloat, float>(core, dst, acc, a, b, bias);
  case isa::ElementType::i8:
    return product<int8_t, int8_t, int32_t>(core, dst, acc, a, b, bias);
  case isa::ElementType::hif8:
    return product<Hif8, Hif8, float>(core, dst, acc, a, b, bias);
  case isa::ElementType::f8E4M3FN:
    return b.type == isa::ElementType::f8E5M2 ? product<E4M3, E5M2, float>(core, dst, acc, a, b, bias)
                                              : product<E4M3, E4M3, float>(core, dst, acc, a, b, bias);
  case isa::ElementType::f8E5M2:
    return b.type == isa::ElementType::f8E5M2 ? product<E5M2, E5M2, float>(core, dst, acc, a, b, bias)
                                              : product<E5M2, E4M3, float>(core, dst, acc, a, b, bias);
  default:
    core.fault(FaultKind::IllegalType, "matrix product of type number " + std::to_string(unsigned(a.type)));
  }
}

void matmulScaled(Core &core, const LocalTile &dst, const LocalTile *acc, const LocalTile &a, const LocalTile &scalesA,
                  const LocalTile &b, const LocalTile &scalesB, const LocalTile *bias) {
  if (!shapesAgree(core, dst, acc, a, b, bias))
    return;
  constexpr uint32_t group = 32;
  uint32_t rows = dst.validRows, cols = dst.validCols, depth = a.validCols, groups = ceilDiv(depth, group);
  if (scalesA.validRows < rows || scalesA.validCols < groups || scalesB.validRows < groups || scalesB.validCols < cols)
    return core.fault(FaultKind::IllegalShape, "there are too few scales for a depth of " + std::to_string(depth));
  // Scaled elements; they and their products are exact in double.
  std::vector<double> left(size_t(rows) * depth), right(size_t(cols) * depth);
  const float *powers = smallFloatValues(isa::ElementType::f8E8M0);
  for (uint32_t i = 0; i < rows; ++i)
    for (uint32_t k = 0; k < depth; ++k)
      left[size_t(i) * depth + k] = double(smallAt(a, a.offset(i, k))) * powers[scalesA.at<uint8_t>(i, k / group)];
  for (uint32_t k = 0; k < depth; ++k)
    for (uint32_t j = 0; j < cols; ++j)
      right[size_t(k) * cols + j] = double(smallAt(b, b.offset(k, j))) * powers[scalesB.at<uint8_t>(k / group, j)];
  std::vector<float> sums(cols);
  for (uint32_t i = 0; i < rows; ++i) {
    for (uint32_t j = 0; j < cols; ++j)
      sums[j] = (acc ? acc->at<float>(i, j) : 0.0f) + (bias ? bias->as<float>()[j] : 0.0f);
    for (uint32_t k = 0; k < depth; ++k) { // a row of sums at a time
      double x = left[size_t(i) * depth + k];
      const double *y = &right[size_t(k) * cols];
      float *sum = sums.data();
      forBlocks(cols, [&](size_t j) { sum[j] = float(double(sum[j]) + x * y[j]); });
    }
    for (uint32_t j = 0; j < cols; ++j)
      dst.at<float>(i, j) = sums[j];
  }
}

} // namespace pto_mlir::cmodel
