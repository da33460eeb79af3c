//===- PTOCommOps.cpp - signal cells between devices ------------------------------------===//

#include "VerifyHelpers.h"

using namespace mlir;
using namespace pto_mlir::pto;

static LogicalResult verifyCell(Operation *op, Type type) {
  auto cell = dyn_cast<PartitionTensorViewType>(type);
  if (!cell)
    return op->emitOpError("expects a cell that is a partition_tensor_view, got ") << type;
  if (llvm::any_of(cell.getShape(), [](int64_t extent) { return extent != 1; }))
    return op->emitOpError("expects a cell of one element, got ") << type;
  return success();
}

LogicalResult TNotifyOp::verify() { return verifyCell(*this, getCell().getType()); }
LogicalResult TWaitOp::verify() { return verifyCell(*this, getCell().getType()); }
