// Heads that share keys and values as the rows of one head. [heads, rows, depth] and, with one row per head,
// [1, heads * depth] are the same numbers as [key heads, heads per key head * rows, depth].
#include "StackQueries.h"

using namespace mlir;

namespace pto_mlir::top {
namespace {

/// Whether each row of a head sees all keys that there are, so that any number of rows does.
bool seesAllKeys(AttentionOp op) {
  if (op.getWindow()[0] >= 0)
    return false;
  bool ends = op.getCausal() || op.getWindow()[1] >= 0;
  return !ends || (op.getExtents().queries == 1 && !op.getOffset());
}

/// Whether the rows of heads follow each other in memory.
bool rowsFollow(AttentionOp op) {
  return op.getExtents().queries == 1 || (op.getQLayout() == "BNSD" && op.getResultLayout() == "BNSD");
}

Value reshaped(RewriterBase &rewriter, Value value, ArrayRef<int64_t> shape) {
  auto type = cast<RankedTensorType>(value.getType());
  return rewriter.create<ReshapeOp>(rewriter.getUnknownLoc(), RankedTensorType::get(shape, type.getElementType()),
                                    value, shape);
}

/// The bias with the rows of each head of a group; null where they would be of another type than a kernel reads, or
/// would have to be repeated.
std::optional<Value> stackedBias(RewriterBase &rewriter, AttentionOp op, int64_t kvHeads, int64_t group) {
  Value bias = op.getBias();
  if (!bias)
    return Value();
  auto type = cast<RankedTensorType>(bias.getType());
  int64_t rank = type.getRank(), rows = rank < 2 ? 1 : type.getDimSize(rank - 2);
  if (rank < 3 || type.getDimSize(rank - 3) == 1)
    return rows == 1 ? std::optional(bias) : std::nullopt;
  if (rows != op.getExtents().queries || type.getElementType() != getElementTypeOrSelf(op.getQuery().getType()))
    return std::nullopt;
  SmallVector<int64_t> shape(type.getShape());
  shape[rank - 3] = kvHeads;
  shape[rank - 2] = group * rows;
  return reshaped(rewriter, bias, shape);
}

/// The result of `op` is `rows` in its own shape. A conversion of it stays next to the attention, whose kernel stores
/// its result in that type.
void replaceByView(RewriterBase &rewriter, AttentionOp op, Value rows) {
  Operation *last = op;
  if (auto cast = op->hasOneUse() ? dyn_cast<CastOp>(*op->user_begin()) : CastOp()) {
    rewriter.setInsertionPoint(cast);
    rows = rewriter.create<CastOp>(rewriter.getUnknownLoc(), rows, cast.getTo());
    last = cast;
  }
  auto type = llvm::cast<RankedTensorType>(last->getResult(0).getType());
  rewriter.replaceOpWithNewOp<ReshapeOp>(last, type, rows, type.getShape());
  if (last != op)
    rewriter.eraseOp(op);
}

} // namespace

AttentionOp stackQueries(AttentionOp op, RewriterBase &rewriter) {
  int64_t heads = op.getQHeads(), kvHeads = op.getKvHeads(), group = heads / kvHeads;
  AttentionOp::Extents extents = op.getExtents();
  auto plain = [](Value value) {
    auto type = cast<RankedTensorType>(value.getType());
    return type.hasStaticShape() && !type.getEncoding();
  };
  if (group == 1 || !rowsFollow(op) || op.getSinks() || !seesAllKeys(op) || !llvm::all_of(op->getOperands(), plain))
    return nullptr;
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  std::optional<Value> bias = stackedBias(rewriter, op, kvHeads, group);
  if (!bias)
    return nullptr;
  int64_t rows = group * extents.queries;
  Value query = reshaped(rewriter, op.getQuery(), {extents.batch, kvHeads, rows, extents.depth});
  auto type = RankedTensorType::get({extents.batch, kvHeads, rows, extents.valueDepth}, op.getType().getElementType());
  auto stacked = rewriter.create<AttentionOp>(rewriter.getUnknownLoc(), type, query, op.getKey(), op.getValue(), *bias,
                                              op.getLengths(), /*sinks=*/Value(), op.getScale(), kvHeads, kvHeads,
                                              /*causal=*/false, /*offset=*/IntegerAttr(), ArrayRef<int64_t>{-1, -1},
                                              op.getSoftcap(), "BNSD", op.getKLayout(), op.getVLayout(), "BNSD");
  replaceByView(rewriter, op, stacked.getOutput());
  return stacked;
}

} // namespace pto_mlir::top
