// Heads that share keys and values as the rows of one head. With one row per head, [heads, 1, depth] and
// [1, heads * depth] are the same numbers as [key heads, heads per key head, depth].
#include "StackQueries.h"

using namespace mlir;

namespace pto_mlir::top {
namespace {

/// Whether the only row of a head sees all keys that there are, so that any number of rows does.
bool seesAllKeys(AttentionOp op) {
  if (op.getWindow()[0] >= 0)
    return false;
  bool ends = op.getCausal() || op.getWindow()[1] >= 0;
  return !ends || !op.getOffset();
}

Value reshaped(RewriterBase &rewriter, Value value, ArrayRef<int64_t> shape) {
  auto type = cast<RankedTensorType>(value.getType());
  return rewriter.create<ReshapeOp>(rewriter.getUnknownLoc(), RankedTensorType::get(shape, type.getElementType()),
                                    value, shape);
}

/// The bias with a row for each head of a group; null where its rows would be of another type than a kernel reads.
std::optional<Value> stackedBias(RewriterBase &rewriter, AttentionOp op, int64_t kvHeads, int64_t group) {
  Value bias = op.getBias();
  if (!bias)
    return Value();
  auto type = cast<RankedTensorType>(bias.getType());
  if (type.getRank() < 3 || type.getDimSize(type.getRank() - 3) == 1)
    return bias;
  if (type.getElementType() != getElementTypeOrSelf(op.getQuery().getType()))
    return std::nullopt;
  SmallVector<int64_t> shape(type.getShape());
  shape[type.getRank() - 3] = kvHeads;
  shape[type.getRank() - 2] = group;
  return reshaped(rewriter, bias, shape);
}

} // namespace

AttentionOp stackQueries(AttentionOp op, RewriterBase &rewriter) {
  int64_t heads = op.getQHeads(), kvHeads = op.getKvHeads(), group = heads / kvHeads;
  AttentionOp::Extents extents = op.getExtents();
  auto plain = [](Value value) {
    auto type = cast<RankedTensorType>(value.getType());
    return type.hasStaticShape() && !type.getEncoding();
  };
  if (group == 1 || extents.queries != 1 || op.getSinks() || !seesAllKeys(op) ||
      !llvm::all_of(op->getOperands(), plain))
    return nullptr;
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  std::optional<Value> bias = stackedBias(rewriter, op, kvHeads, group);
  if (!bias)
    return nullptr;
  Value query = reshaped(rewriter, op.getQuery(), {extents.batch, kvHeads, group, extents.depth});
  auto type = RankedTensorType::get({extents.batch, kvHeads, group, extents.valueDepth}, op.getType().getElementType());
  auto stacked = rewriter.create<AttentionOp>(rewriter.getUnknownLoc(), type, query, op.getKey(), op.getValue(), *bias,
                                              op.getLengths(), /*sinks=*/Value(), op.getScale(), kvHeads, kvHeads,
                                              /*causal=*/false, /*offset=*/IntegerAttr(), ArrayRef<int64_t>{-1, -1},
                                              op.getSoftcap(), "BNSD", op.getKLayout(), op.getVLayout(), "BNSD");
  rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), stacked.getOutput(), op.getType().getShape());
  return stacked;
}

} // namespace pto_mlir::top
