//===- GroupedConv.cpp - the generic that stands for a grouped convolution ===//

#include "pto_mlir/Kernels/GroupedConv.h"

using namespace mlir;

namespace pto_mlir {
namespace {

constexpr unsigned kLoops = 8, kParallel = 5;

// The factor of loop `dim` in the linear `expr`, 0 when it does not occur.
int64_t factorOf(AffineExpr expr, unsigned dim) {
  if (auto loop = dyn_cast<AffineDimExpr>(expr))
    return loop.getPosition() == dim;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return 0;
  if (binary.getKind() == AffineExprKind::Add) {
    int64_t left = factorOf(binary.getLHS(), dim);
    return left ? left : factorOf(binary.getRHS(), dim);
  }
  auto factor = dyn_cast<AffineConstantExpr>(binary.getRHS());
  if (binary.getKind() != AffineExprKind::Mul || !factor)
    return 0;
  return factorOf(binary.getLHS(), dim) * factor.getValue();
}

// Does `expr` read exactly `outer` and `inner`, linearly?
bool isWindow(AffineExpr expr, unsigned outer, unsigned inner, int64_t &stride, int64_t &dilation) {
  stride = factorOf(expr, outer);
  dilation = factorOf(expr, inner);
  MLIRContext *context = expr.getContext();
  AffineExpr expected = getAffineDimExpr(outer, context) * stride + getAffineDimExpr(inner, context) * dilation;
  return stride > 0 && dilation > 0 &&
         simplifyAffineExpr(expr - expected, kLoops, 0) == getAffineConstantExpr(0, context);
}

} // namespace

std::optional<GroupedConv> matchGroupedConv(Operation *op) {
  auto generic = dyn_cast<linalg::GenericOp>(op);
  if (!generic || generic.getNumLoops() != kLoops || generic.getNumDpsInputs() != 2 || generic.getNumDpsInits() != 1)
    return std::nullopt;
  for (auto [index, type] : llvm::enumerate(generic.getIteratorTypesArray()))
    if ((type == utils::IteratorType::parallel) != (index < kParallel))
      return std::nullopt;
  SmallVector<AffineMap> maps = generic.getIndexingMapsArray();
  MLIRContext *context = op->getContext();
  auto reads = [&](AffineMap map, ArrayRef<unsigned> dims) {
    return map == AffineMap::getMultiDimMapWithTargets(kLoops, dims, context);
  };
  GroupedConv conv{generic, {}, {}};
  if (maps[0].getNumResults() != 5 || maps[0].getResult(0) != getAffineDimExpr(0, context) ||
      maps[0].getResult(3) != getAffineDimExpr(3, context) || maps[0].getResult(4) != getAffineDimExpr(7, context) ||
      !isWindow(maps[0].getResult(1), 1, 5, conv.strides[0], conv.dilations[0]) ||
      !isWindow(maps[0].getResult(2), 2, 6, conv.strides[1], conv.dilations[1]) || !reads(maps[1], {3, 4, 5, 6, 7}) ||
      !reads(maps[2], {0, 1, 2, 3, 4}))
    return std::nullopt;
  return conv;
}

} // namespace pto_mlir
