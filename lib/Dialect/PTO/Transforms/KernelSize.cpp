//===- KernelSize.cpp - the size that a launch passes ---------------------===//

#include "pto_mlir/Dialect/PTO/Transforms/KernelSize.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "pto_mlir/Dialect/PTO/IR/PTO.h"

using namespace mlir;

namespace pto_mlir::pto {

void takeKernelSize(func::FuncOp func) {
  if (!func->hasAttr(kGreatestSizeAttr))
    return;
  Block &entry = func.getBody().front();
  Location loc = func.getLoc();
  OpBuilder builder = OpBuilder::atBlockBegin(&entry);
  BlockArgument scalar = entry.addArgument(builder.getI64Type(), loc);
  Value size = builder.create<arith::IndexCastOp>(loc, builder.getIndexType(), scalar);
  for (auto op : llvm::to_vector(entry.getOps<KernelSizeOp>())) {
    op.replaceAllUsesWith(size);
    op.erase();
  }
  func.setType(FunctionType::get(func.getContext(), entry.getArgumentTypes(), func.getResultTypes()));
  func->removeAttr(kGreatestSizeAttr);
  func->removeAttr(kGreatestRowsAttr);
}

} // namespace pto_mlir::pto
