//===- KernelSize.cpp - the sizes that a launch passes --------------------===//

#include "pto_mlir/Dialect/PTO/Transforms/KernelSize.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "pto_mlir/Dialect/PTO/IR/PTO.h"

using namespace mlir;

namespace pto_mlir::pto {

void takeKernelSizes(func::FuncOp func) {
  auto greatest = func->getAttrOfType<DenseI64ArrayAttr>(kGreatestSizesAttr);
  if (!greatest)
    return;
  Block &entry = func.getBody().front();
  Location loc = func.getLoc();
  OpBuilder builder = OpBuilder::atBlockBegin(&entry);
  SmallVector<Value> sizes;
  for (int64_t i = 0; i < greatest.size(); ++i) {
    BlockArgument scalar = entry.addArgument(builder.getI64Type(), loc);
    sizes.push_back(builder.create<arith::IndexCastOp>(loc, builder.getIndexType(), scalar));
  }
  for (auto op : llvm::to_vector(entry.getOps<KernelSizeOp>())) {
    op.replaceAllUsesWith(sizes[op.getNumber()]);
    op.erase();
  }
  func.setType(FunctionType::get(func.getContext(), entry.getArgumentTypes(), func.getResultTypes()));
  func->removeAttr(kGreatestSizesAttr);
  func->removeAttr(kLeastSizesAttr);
  func->removeAttr(kGreatestRowsAttr);
}

} // namespace pto_mlir::pto
