//===- MatchAttention.cpp - top.attention as plain data -------------------===//

#include "Attention.h"

#include "pto_mlir/Dialect/Top/IR/Names.h"

using namespace mlir;

namespace pto_mlir::attention {

/// What `value` is a view of: itself, or in a kernel the argument that it is read from in place.
static Value rootOf(Value value, bool inKernel) {
  while (inKernel && cube::isView(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  return value;
}

/// The number of the kernel's argument that `value` is. Operands may be one argument: K and V, say. Before outlining
/// the number is undefined and unused.
static unsigned argumentOf(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  return argument ? argument.getArgNumber() : 0;
}

static std::optional<cube::StridedView> viewThrough(Value value, Value root) {
  if (value == root)
    return cube::contiguous(cast<ShapedType>(value.getType()).getShape());
  Operation *step = value.getDefiningOp();
  std::optional<cube::StridedView> source = viewThrough(step->getOperand(0), root);
  return source ? cube::viewOfResult(step, *source) : std::nullopt;
}

static std::optional<Matrix> headsOf(cube::StridedView view, StringRef layout, int64_t heads, int64_t depth,
                                     Value root) {
  // [heads of all batches, rows, depth]
  cube::StridedView blocks;
  blocks.offset = view.offset;
  cube::LevelList batch = view.dims[0], last = view.dims.back();
  if (layout == "BNSD") {
    llvm::append_range(batch, view.dims[1]);
  } else if (heads > 1) {
    if (last.size() == 1 && depth > 1)
      last = {{heads, last[0].stride * depth}, {depth, last[0].stride}};
    if (last.empty() || last[0].size != heads)
      return std::nullopt;
    batch.push_back(last[0]);
    last.erase(last.begin());
  }
  if (batch.size() == 2 && batch[0].stride == batch[1].size * batch[1].stride)
    batch = {{batch[0].size * batch[1].size, batch[1].stride}};
  blocks.dims = {batch, view.dims[view.dims.size() - 2], last};
  auto type = cast<RankedTensorType>(root.getType());
  std::optional<cube::BlockMatrix> found = cube::asBlocks(blocks, type.getNumElements());
  if (!found)
    return std::nullopt;
  Matrix matrix;
  matrix.arg = argumentOf(root);
  matrix.element = type.getElementType();
  matrix.rows = type.getNumElements() / found->pitch;
  matrix.cols = found->pitch;
  matrix.outerRows = found->outerRows, matrix.outerCols = found->outerCols;
  matrix.inner = found->inner, matrix.innerRows = found->innerRows, matrix.innerCols = found->innerCols;
  matrix.firstRow = found->firstRow, matrix.firstCol = found->firstCol;
  return matrix;
}

std::optional<Matrix> operandHeads(top::AttentionOp op, unsigned operand, Value root) {
  auto extents = op.getExtents();
  std::tuple<StringRef, uint64_t, int64_t> parts[] = {{op.getQLayout(), op.getQHeads(), extents.depth},
                                                      {op.getKLayout(), op.getKvHeads(), extents.depth},
                                                      {op.getVLayout(), op.getKvHeads(), extents.valueDepth}};
  auto [layout, heads, depth] = parts[operand];
  std::optional<cube::StridedView> view = viewThrough(op->getOperand(operand), root);
  return view ? headsOf(*view, layout, heads, depth, root) : std::nullopt;
}

/// Why `op` has no kernel whatever its sizes; "" if it may have one.
static std::string refusal(top::AttentionOp op) {
  Type element = getElementTypeOrSelf(op.getQuery().getType());
  if (!element.isF32() && !element.isF16() && !element.isBF16())
    return "elements are neither f32, f16 nor bf16";
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
  // Before outlining an operand is a tensor of its own; which views are read in place is decided later.
  bool inKernel = op->getParentOfType<func::FuncOp>()->hasAttr(pto::kKernelKindAttr);
  std::optional<Matrix> parts[3], result;
  for (unsigned i = 0; i < 3; ++i)
    parts[i] = operandHeads(op, i, rootOf(op->getOperand(i), inKernel));
  result =
      headsOf(cube::contiguous(op.getType().getShape()), op.getResultLayout(), heads, p.valueDepth, op.getOutput());
  if (!parts[0] || !parts[1] || !parts[2] || !result) {
    if (reason)
      *reason = "the rows of a head are scattered in memory";
    return std::nullopt;
  }
  a.query = *parts[0], a.key = *parts[1], a.value = *parts[2], a.out = *result;
  a.key.transposed = true;
  a.out.arg = out;
  auto limits = attentionLimits(architecture.str());
  if (!limits || !chooseAttentionTiling(p, *limits)) {
    if (reason)
      *reason = "no tiling fits the memories of " + architecture.str();
    return std::nullopt;
  }
  return a;
}

bool canBuild(top::AttentionOp op, StringRef architecture, std::string *reason) {
  auto func = op->getParentOfType<func::FuncOp>();
  if (func && func->hasAttr(top::kSymbolsAttr) && !func->hasAttr(top::kSizedAttentionsAttr)) {
    if (reason)
      *reason = "a size at run time is not the batch of all attentions";
    return false;
  }
  return matchAttention(op, architecture, /*out=*/0, reason).has_value();
}

} // namespace pto_mlir::attention
