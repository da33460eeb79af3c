//===- PTOAsyncOps.cpp - copies between devices -----------------------------------------===//

#include "VerifyHelpers.h"
#include "pto_mlir/Dialect/PTO/IR/PTO.h"
#include "pto_mlir/Dialect/PTO/IR/Tiles.h"

using namespace mlir;
using namespace pto_mlir::pto;

LogicalResult BuildAsyncSessionOp::verify() {
  if (TileBufType scratch = asTile(getScratch())) {
    if (scratch.getLoc() != AddressSpace::vec)
      return emitOpError("expects scratch in vec, got ") << stringifyAddressSpace(scratch.getLoc());
    if (getTileBytes(scratch) < 8)
      return emitOpError("expects scratch of at least 8 bytes, got ") << getTileBytes(scratch);
  }
  if (Type type = elementTypeOf(getWorkspace().getType()); !type.isInteger(8))
    return emitOpError("expects a workspace of i8, got ") << type;
  auto check = [&](IntegerAttr attr, StringRef name, int64_t least, int64_t most) -> LogicalResult {
    if (!attr || (attr.getInt() >= least && attr.getInt() <= most))
      return success();
    return emitOpError("expects ") << name << " within " << least << " to " << most << ", got " << attr.getInt();
  };
  constexpr int64_t kAny = std::numeric_limits<int64_t>::max();
  return failure(failed(check(getSyncIdAttr(), "sync_id", 0, 7)) ||
                 failed(check(getBlockBytesAttr(), "block_bytes", 1, kAny)) ||
                 failed(check(getCommBlockOffsetAttr(), "comm_block_offset", 0, kAny)) ||
                 failed(check(getQueueNumAttr(), "queue_num", 1, kAny)) ||
                 failed(check(getChannelGroupIdxAttr(), "channel_group_idx", 0, std::numeric_limits<uint32_t>::max())));
}

static ArrayRef<int64_t> shapeOf(Type type) {
  if (auto view = dyn_cast<TensorViewType>(type))
    return view.getShape();
  if (auto view = dyn_cast<PartitionTensorViewType>(type))
    return view.getShape();
  return cast<MemRefType>(type).getShape();
}

static LogicalResult verifyCopy(Operation *op, Type dst, Type src) {
  if (elementTypeOf(dst) != elementTypeOf(src))
    return op->emitOpError("expects one element type, got ") << elementTypeOf(dst) << " and " << elementTypeOf(src);
  for (Type type : {dst, src}) {
    ArrayRef<int64_t> shape = shapeOf(type);
    bool line = !shape.empty() && llvm::all_of(shape.drop_back(), [](int64_t dim) { return dim == 1; });
    if (!line || ShapedType::isDynamic(shape.back()))
      return op->emitOpError("expects static views of one contiguous dimension, got ") << type;
  }
  if (shapeOf(dst) != shapeOf(src))
    return op->emitOpError("expects views of one shape, got ") << dst << " and " << src;
  return success();
}
LogicalResult TPutAsyncOp::verify() { return verifyCopy(*this, getDst().getType(), getSrc().getType()); }
LogicalResult TGetAsyncOp::verify() { return verifyCopy(*this, getDst().getType(), getSrc().getType()); }
