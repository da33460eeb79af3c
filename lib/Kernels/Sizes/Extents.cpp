//===- Extents.cpp - extents that a launch passes -------------------------===//

#include "Extents.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "pto_mlir/Dialect/PTO/IR/PTO.h"

using namespace mlir;

namespace pto_mlir::kernels {

Extents::Extents(func::FuncOp kernel) : kernel(kernel) {
  if (auto greatest = kernel->getAttrOfType<DenseI64ArrayAttr>(pto::kGreatestSizesAttr))
    llvm::append_range(most, greatest.asArrayRef());
}

int64_t Extents::greatest(AffineExpr size) const { return valueOf(size, most); }

OpFoldResult Extents::of(AffineExpr size) {
  Builder attributes(size.getContext());
  if (auto constant = dyn_cast<AffineConstantExpr>(size))
    return attributes.getIndexAttr(constant.getValue());
  Value &value = made[size];
  if (value)
    return value;
  OpBuilder builder = OpBuilder::atBlockBegin(&kernel.getBody().front());
  if (scalars.empty())
    for (auto [i, greatest] : llvm::enumerate(most))
      scalars.push_back(builder.create<pto::KernelSizeOp>(kernel.getLoc(), builder.getIndexType(), i, greatest));
  builder.setInsertionPointAfterValue(scalars.back());
  auto symbol = dyn_cast<AffineSymbolExpr>(size);
  value =
      symbol ? scalars[symbol.getPosition()]
             : builder.create<affine::AffineApplyOp>(kernel.getLoc(), AffineMap::get(0, scalars.size(), size), scalars);
  return value;
}

SmallVector<OpFoldResult> Extents::of(ArrayRef<AffineExpr> sizes) {
  return llvm::map_to_vector(sizes, [&](AffineExpr size) { return of(size); });
}

} // namespace pto_mlir::kernels
