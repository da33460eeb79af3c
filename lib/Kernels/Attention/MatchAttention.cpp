//===- MatchAttention.cpp - top.attention as plain data -------------------===//

#include "Attention.h"

using namespace mlir;

namespace pto_mlir::attention {

/// The number of the kernel's argument that `value` is. Operands may be one argument: K and V, say. Before outlining
/// there is no such number, and nobody asks for it.
static unsigned argumentOf(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  return argument ? argument.getArgNumber() : 0;
}

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
  return "";
}

/// The bias as a matrix with a block for each head of all batches, as it is broadcast. False where no instruction reads
/// it so.
static bool readBias(top::AttentionOp op, unsigned argument, Attention &a) {
  auto type = cast<RankedTensorType>(op.getBias().getType());
  SmallVector<int64_t> shape(4 - type.getRank(), 1);
  llvm::append_range(shape, type.getShape());
  const AttentionProblem &p = a.problem;
  a.biasByRow = shape[2] > 1;
  Type element = type.getElementType();
  if (shape[3] != p.keys || (element != a.element && (a.biasByRow || !element.isF32())))
    return false;
  Matrix bias;
  bias.arg = argument;
  bias.element = element;
  bias.rows = shape[0] * shape[1] * shape[2];
  bias.cols = shape[3];
  bias.inner = a.headsOfBatch;
  bias.outerRows = shape[0] > 1 ? shape[1] * shape[2] : 0;
  bias.innerRows = shape[1] > 1 ? shape[2] : 0;
  a.bias = bias;
  return true;
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
  a.headsOfBatch = heads;
  if (op.getBias() && !readBias(op, argumentOf(op.getBias()), a)) {
    if (reason)
      *reason = "the bias is of another type than Q, or has one column for all keys";
    return std::nullopt;
  }
  if (op.getLengths())
    a.lengths = argumentOf(op.getLengths());
  if (op.getSinks()) {
    a.sinks.emplace();
    a.sinks->arg = argumentOf(op.getSinks());
    a.sinks->element = getElementTypeOrSelf(op.getSinks().getType());
    a.sinks->cols = heads;
  }
  a.offset = op.getFixedOffset();
  a.softcap = op.getSoftcap().convertToDouble();
  if (op.getWindow()[0] >= 0)
    a.before = op.getWindow()[0];
  if (op.getWindow()[1] >= 0)
    a.after = op.getWindow()[1];
  if (op.getCausal())
    a.after = 0;
  a.scale = op.getScale().convertToDouble();
  a.query = headsOf(op.getQuery().getType(), op.getQLayout(), heads, argumentOf(op.getQuery()));
  a.key = headsOf(op.getKey().getType(), op.getKLayout(), kvHeads, argumentOf(op.getKey()));
  a.key.transposed = true;
  a.value = headsOf(op.getValue().getType(), op.getVLayout(), kvHeads, argumentOf(op.getValue()));
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
