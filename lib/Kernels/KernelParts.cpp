#include "KernelParts.h"

#include "pto_mlir/Dialect/PTO/IR/PTO.h"

using namespace mlir;

namespace pto_mlir::kernels {

func::FuncOp addVectorPart(func::FuncOp kernel) {
  auto setKind = [](func::FuncOp func, pto::KernelKind kind) {
    func->setAttr(pto::kKernelKindAttr, pto::KernelKindAttr::get(func.getContext(), kind));
  };
  kernel->setAttr(pto::kPartOfAttr, kernel.getSymNameAttr());
  setKind(kernel, pto::KernelKind::cube);
  OpBuilder b(kernel);
  b.setInsertionPointAfter(kernel);
  auto vector = cast<func::FuncOp>(b.clone(*kernel));
  vector.setName((kernel.getName() + ".vector").str());
  setKind(vector, pto::KernelKind::vector);
  return vector;
}

void clearBody(func::FuncOp kernel, ArrayRef<Type> types) {
  kernel.getBody().getBlocks().clear();
  kernel.setFunctionType(FunctionType::get(kernel.getContext(), types, {}));
  kernel.removeArgAttrsAttr();
  kernel.removeResAttrsAttr();
  kernel.addEntryBlock();
}

} // namespace pto_mlir::kernels
