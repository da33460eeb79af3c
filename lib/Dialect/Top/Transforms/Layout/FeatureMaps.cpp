//===- FeatureMaps.cpp - Conversion of ops on feature maps to channels-last ===//

#include "Phases.h"

#include "pto_mlir/Dialect/Top/IR/Top.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;

namespace pto_mlir::top::layout {

// [O, I, kernel..] -> [kernel.., I, O]
static SmallVector<int64_t> filterPermutation(int64_t rank) {
  SmallVector<int64_t> perm = llvm::to_vector(llvm::seq<int64_t>(2, rank));
  perm.append({1, 0});
  return perm;
}

// [I, O, kernel..] -> [kernel.., I, O]
static SmallVector<int64_t> transposedFilterPermutation(int64_t rank) {
  SmallVector<int64_t> perm = llvm::to_vector(llvm::seq<int64_t>(2, rank));
  perm.append({0, 1});
  return perm;
}

static void convert(Operation *op) {
  auto type = cast<RankedTensorType>(op->getResultTypes()[0]);
  int64_t rank = type.getRank();
  OpBuilder builder(op);
  // The permuted input must not carry the tensor's name, or two tensors would have it.
  Location unnamed = UnknownLoc::get(op->getContext());
  Operation *last = builder.clone(*op);
  builder.setInsertionPoint(last);
  last->setOperand(0, permuted(builder, unnamed, op->getOperand(0), toChannelsLast(rank)));
  if (auto conv = dyn_cast<ConvOp>(last))
    conv.getFilterMutable().assign(permuted(builder, unnamed, conv.getFilter(), filterPermutation(rank)));
  if (auto conv = dyn_cast<ConvTransposeOp>(last))
    conv.getFilterMutable().assign(permuted(builder, unnamed, conv.getFilter(), transposedFilterPermutation(rank)));
  last->setAttr("layout", builder.getStringAttr("NHWC"));
  last->getResult(0).setType(
      RankedTensorType::get(applyPermutation(type.getShape(), toChannelsLast(rank)), type.getElementType()));
  last->setLoc(channelsLastLoc(op->getLoc()));
  builder.setInsertionPointAfter(last);
  op->getResult(0).replaceAllUsesWith(ownPermute(builder, op->getLoc(), last->getResult(0)));
  op->erase();
}

void convertFeatureMaps(func::FuncOp func) {
  SmallVector<Operation *> ops;
  func.walk([&](Operation *op) {
    auto layout = op->getAttrOfType<StringAttr>("layout");
    if (isa<ConvOp, ConvTransposeOp, MaxPoolOp, AvgPoolOp, BatchNormOp>(op) &&
        (!layout || layout.getValue() == "NCHW") && cast<RankedTensorType>(op->getResultTypes()[0]).getRank() >= 3)
      ops.push_back(op);
  });
  llvm::for_each(ops, convert);
}

} // namespace pto_mlir::top::layout
