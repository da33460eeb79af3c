//===- MatchAttention.cpp - top.attention as plain data -------------------===//

#include "Attention.h"

using namespace mlir;

namespace pto_mlir::attention {

/// The heads of all batches of a kernel argument, one block each.
static Matrix headsOf(Type type, StringRef layout, int64_t heads, unsigned argument) {
  auto tensor = cast<RankedTensorType>(type);
  ArrayRef<int64_t> shape = tensor.getShape();
  Matrix matrix;
  matrix.arg = argument;
  matrix.element = tensor.getElementType();
  if (layout == "BNSD") {
    matrix.rows = shape[0] * shape[1] * shape[2];
    matrix.cols = shape[3];
    matrix.outerRows = shape[2];
    return matrix;
  }
  matrix.rows = shape[0] * shape[1];
  matrix.cols = shape[2];
  matrix.inner = heads;
  matrix.outerRows = shape[1];
  matrix.innerCols = shape[2] / heads;
  return matrix;
}

/// Why `op` has no kernel whatever its sizes; "" if it may have one.
static std::string refusal(top::AttentionOp op) {
  Type element = getElementTypeOrSelf(op.getQuery().getType());
  if (!element.isF16() && !element.isBF16())
    return "elements are neither f16 nor bf16";
  for (Value value : op->getOperands())
    if (!cast<RankedTensorType>(value.getType()).hasStaticShape())
      return "a shape is not known";
  if (op.getBias())
    return "scores have a bias";
  if (op.getLengths())
    return "lengths come from a tensor";
  if (op.getSinks())
    return "sums have sinks";
  if (!op.getSoftcap().isZero())
    return "scores are capped";
  return "";
}

std::optional<Attention> matchAttention(top::AttentionOp op, StringRef architecture, unsigned out,
                                        std::string *reason) {
  std::string why = refusal(op);
  if (!why.empty()) {
    if (reason)
      *reason = why;
    return std::nullopt;
  }
  auto extents = op.getExtents();
  Attention a;
  a.element = getElementTypeOrSelf(op.getQuery().getType());
  int64_t heads = op.getQHeads(), kvHeads = op.getKvHeads();
  AttentionProblem &p = a.problem;
  p.heads = extents.batch * heads;
  p.queries = extents.queries;
  p.keys = extents.keys;
  p.depth = extents.depth;
  p.valueDepth = extents.valueDepth;
  p.bytes = a.element.getIntOrFloatBitWidth() / 8;
  a.group = heads / kvHeads;
  a.offset = *op.getFixedOffset();
  if (op.getWindow()[0] >= 0)
    a.before = op.getWindow()[0];
  if (op.getWindow()[1] >= 0)
    a.after = op.getWindow()[1];
  if (op.getCausal())
    a.after = 0;
  a.scale = op.getScale().convertToDouble();
  a.query = headsOf(op.getQuery().getType(), op.getQLayout(), heads, 0);
  a.key = headsOf(op.getKey().getType(), op.getKLayout(), kvHeads, 1);
  a.key.transposed = true;
  a.value = headsOf(op.getValue().getType(), op.getVLayout(), kvHeads, 2);
  a.out = headsOf(op.getType(), op.getResultLayout(), heads, out);
  auto limits = attentionLimits(architecture.str());
  if (!limits || !chooseAttentionTiling(p, *limits)) {
    if (reason)
      *reason = "no tiling fits the memories of " + architecture.str();
    return std::nullopt;
  }
  return a;
}

bool canBuild(top::AttentionOp op, StringRef architecture, std::string *reason) {
  return matchAttention(op, architecture, /*out=*/0, reason).has_value();
}

} // namespace pto_mlir::attention
