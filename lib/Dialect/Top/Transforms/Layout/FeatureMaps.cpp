//===- FeatureMaps.cpp - Conversion of ops on feature maps to channels-last ===//

#include "Phases.h"

#include "pto_mlir/Dialect/Top/IR/Top.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;

namespace pto_mlir::top::layout {

static SmallVector<int64_t> kernelDims(int64_t rank, Order order) {
  SmallVector<int64_t> dims = llvm::to_vector(llvm::seq<int64_t>(2, rank));
  if (order.columnsOuter && rank == 4)
    std::swap(dims[0], dims[1]);
  return dims;
}

// [O, I, kernel..] -> [kernel.., I, O]
static SmallVector<int64_t> filterPermutation(int64_t rank, Order order) {
  SmallVector<int64_t> perm = kernelDims(rank, order);
  perm.append({1, 0});
  return perm;
}

// [I, O, kernel..] -> [kernel.., I, O]
static SmallVector<int64_t> transposedFilterPermutation(int64_t rank, Order order) {
  SmallVector<int64_t> perm = kernelDims(rank, order);
  perm.append({0, 1});
  return perm;
}

/// Swaps rows and columns in the attributes of an op on images.
static void swapColumns(Operation *op) {
  for (StringRef name : {"kernel", "strides", "dilations", "pads", "output_padding"})
    if (auto values = op->getAttrOfType<DenseI64ArrayAttr>(name)) {
      SmallVector<int64_t> swapped(values.asArrayRef());
      for (size_t i = 0; i + 1 < swapped.size(); i += 2)
        std::swap(swapped[i], swapped[i + 1]);
      op->setAttr(name, DenseI64ArrayAttr::get(op->getContext(), swapped));
    }
}

static void convert(Operation *op, Order order) {
  auto type = cast<RankedTensorType>(op->getResultTypes()[0]);
  int64_t rank = type.getRank();
  OpBuilder builder(op);
  // The permuted input must not carry the tensor's name, or two tensors would have it.
  Location unnamed = UnknownLoc::get(op->getContext());
  Operation *last = builder.clone(*op);
  builder.setInsertionPoint(last);
  last->setOperand(0, permuted(builder, unnamed, op->getOperand(0), order.toChannelsLast(rank)));
  if (auto conv = dyn_cast<ConvOp>(last))
    conv.getFilterMutable().assign(permuted(builder, unnamed, conv.getFilter(), filterPermutation(rank, order)));
  if (auto conv = dyn_cast<ConvTransposeOp>(last))
    conv.getFilterMutable().assign(
        permuted(builder, unnamed, conv.getFilter(), transposedFilterPermutation(rank, order)));
  if (order.columnsOuter && rank == 4)
    swapColumns(last);
  last->setAttr("layout", builder.getStringAttr("NHWC"));
  last->getResult(0).setType(
      RankedTensorType::get(applyPermutation(type.getShape(), order.toChannelsLast(rank)), type.getElementType()));
  last->setLoc(channelsLastLoc(op->getLoc()));
  builder.setInsertionPointAfter(last);
  op->getResult(0).replaceAllUsesWith(ownPermute(builder, op->getLoc(), last->getResult(0), order));
  op->erase();
}

void convertFeatureMaps(func::FuncOp func, Order order) {
  SmallVector<Operation *> ops;
  func.walk([&](Operation *op) {
    auto layout = op->getAttrOfType<StringAttr>("layout");
    if (isa<ConvOp, ConvTransposeOp, MaxPoolOp, AvgPoolOp, BatchNormOp>(op) &&
        (!layout || layout.getValue() == "NCHW") && cast<RankedTensorType>(op->getResultTypes()[0]).getRank() >= 3)
      ops.push_back(op);
  });
  for (Operation *op : ops)
    convert(op, order);
}

} // namespace pto_mlir::top::layout
