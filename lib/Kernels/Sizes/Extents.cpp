//===- Extents.cpp - extents that a launch passes -------------------------===//

#include "Extents.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "pto_mlir/Dialect/PTO/IR/PTO.h"

using namespace mlir;

namespace pto_mlir::kernels {

Extents::Extents(func::FuncOp kernel) : kernel(kernel) {
  if (auto greatest = kernel->getAttrOfType<IntegerAttr>(pto::kGreatestSizeAttr))
    most = greatest.getInt();
}

int64_t Extents::greatest(AffineExpr size) const {
  AffineExpr value = getAffineConstantExpr(most, size.getContext());
  return cast<AffineConstantExpr>(size.replaceSymbols(value)).getValue();
}

OpFoldResult Extents::of(AffineExpr size) {
  Builder attributes(size.getContext());
  if (auto constant = dyn_cast<AffineConstantExpr>(size))
    return attributes.getIndexAttr(constant.getValue());
  Value &value = made[size];
  if (value)
    return value;
  OpBuilder builder = OpBuilder::atBlockBegin(&kernel.getBody().front());
  if (!scalar)
    scalar = builder.create<pto::KernelSizeOp>(kernel.getLoc(), builder.getIndexType(), most);
  builder.setInsertionPointAfterValue(scalar);
  value = factor(size).coefficient == 1
              ? scalar
              : builder.create<affine::AffineApplyOp>(kernel.getLoc(), AffineMap::get(0, 1, size), scalar);
  return value;
}

SmallVector<OpFoldResult> Extents::of(ArrayRef<AffineExpr> sizes) {
  return llvm::map_to_vector(sizes, [&](AffineExpr size) { return of(size); });
}

} // namespace pto_mlir::kernels
