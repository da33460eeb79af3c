#include "LaunchSlots.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace pto_mlir::kernels {

SmallVector<top::LaunchOp> launchesOf(func::FuncOp kernel) {
  SmallVector<top::LaunchOp> launches;
  kernel->getParentOfType<ModuleOp>().walk([&](top::LaunchOp launch) {
    if (launch.getKernel() == kernel.getName())
      launches.push_back(launch);
  });
  return launches;
}

llvm::DenseSet<StringAttr> launchedKernels(func::FuncOp main) {
  llvm::DenseSet<StringAttr> names;
  main.walk([&](top::LaunchOp launch) { names.insert(launch.getKernelAttr().getAttr()); });
  return names;
}

void addSlots(top::LaunchOp launch, ArrayRef<RankedTensorType> slots) {
  OpBuilder b(launch);
  SmallVector<Value> inits;
  for (RankedTensorType slot : slots)
    inits.push_back(b.create<tensor::EmptyOp>(launch.getLoc(), slot.getShape(), slot.getElementType()));
  llvm::append_range(inits, launch.getInits());
  auto padded = [&](ArrayAttr attr) {
    SmallVector<StringRef> strings(slots.size(), "");
    if (attr)
      llvm::append_range(strings, attr.getAsValueRange<StringAttr>());
    strings.resize(inits.size());
    return b.getStrArrayAttr(strings);
  };
  auto whole = b.create<top::LaunchOp>(launch.getLoc(), ValueRange(inits).getTypes(), launch.getKernelAttr(),
                                       launch.getInputs(), inits, padded(launch.getNamesAttr()),
                                       padded(launch.getLayoutsAttr()), launch.getAbsorbedAttr(),
                                       /*places=*/nullptr, launch.getScalarsAttr());
  launch.replaceAllUsesWith(whole.getResults().drop_front(slots.size()));
  launch.erase();
}

} // namespace pto_mlir::kernels
