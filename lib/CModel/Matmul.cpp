// The matrix product: shapes are checked, operands packed into panels, the widest micro-kernel of this machine runs.
#include "Matmul.h"

#include "MatmulKernel.h"
#include "Panels.h"

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

template <class T, class C>
void product(Core &core, const LocalTile &dst, const LocalTile *acc, const LocalTile &a, const LocalTile &b, const LocalTile *bias) {
  const MatmulKernel &kernel = matmulKernel();
  MatmulTask<C> task;
  task.rows = dst.validRows;
  task.cols = dst.validCols;
  task.depth = a.validCols;
  packLeft<T, C>(task, core.leftPanels, a);
  packRight<T, C>(task, core.rightPanels, b, kernel.lanes);
  task.dst = dst.as<C>();
  task.dstRows = dst.rows;
  if (acc) {
    task.acc = acc->as<C>();
    task.accRows = acc->rows;
  }
  if (bias)
    task.bias = bias->as<C>();
  if constexpr (std::is_same_v<C, float>)
    kernel.floats(task);
  else
    kernel.integers(task);
}

} // namespace

void matmul(Core &core, const LocalTile &dst, const LocalTile *acc, const LocalTile &a, const LocalTile &b, const LocalTile *bias) {
  if (a.validCols != b.validRows || dst.validRows != a.validRows || dst.validCols != b.validCols ||
      (acc && (acc->validRows < dst.validRows || acc->validCols < dst.validCols)) || (bias && bias->validCols < dst.validCols)) {
    auto shape = [](const LocalTile &t) { return std::to_string(t.validRows) + "x" + std::to_string(t.validCols); };
    core.fault(FaultKind::IllegalShape, "product of " + shape(a) + " and " + shape(b) + " into " + shape(dst) +
                                            (acc ? " with accumulator " + shape(*acc) : "") + (bias ? " with bias " + shape(*bias) : ""));
    return;
  }
  switch (a.type) {
  case isa::ElementType::f32:
    return product<float, float>(core, dst, acc, a, b, bias);
  case isa::ElementType::f16:
    return product<Half, float>(core, dst, acc, a, b, bias);
  case isa::ElementType::bf16:
    return product<BFloat, float>(core, dst, acc, a, b, bias);
  case isa::ElementType::i8:
    return product<int8_t, int32_t>(core, dst, acc, a, b, bias);
  default:
    core.fault(FaultKind::IllegalType, "matrix product of type number " + std::to_string(unsigned(a.type)));
  }
}

} // namespace pto_mlir::cmodel
