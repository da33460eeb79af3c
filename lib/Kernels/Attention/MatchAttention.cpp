//===- MatchAttention.cpp - top.attention as plain data -------------------===//

#include "Attention.h"

#include "pto_mlir/Dialect/Top/IR/Names.h"
#include "pto_mlir/Kernels/AttentionEstimate.h"

#include "llvm/Support/FormatVariadic.h"

#include <numeric>

using namespace mlir;

namespace pto_mlir::attention {

Value rootOf(top::AttentionOp op, unsigned operand) {
  Value value = op->getOperand(operand);
  bool inKernel = op->getParentOfType<func::FuncOp>()->hasAttr(pto::kKernelKindAttr);
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

static std::optional<cube::StridedView> viewThrough(Value value, Value root, cube::ShapeOf shapeOf) {
  if (value == root)
    return cube::contiguous(shapeOf(value));
  Operation *step = value.getDefiningOp();
  std::optional<cube::StridedView> source = viewThrough(step->getOperand(0), root, shapeOf);
  return source ? cube::viewOfResult(step, *source, shapeOf) : std::nullopt;
}

static std::optional<Matrix> headsOf(cube::StridedView view, StringRef layout, int64_t heads, int64_t depth,
                                     int64_t elements) {
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
  std::optional<cube::BlockMatrix> found = cube::asBlocks(blocks, elements);
  if (!found)
    return std::nullopt;
  Matrix matrix;
  matrix.rows = elements / found->pitch;
  matrix.cols = found->pitch;
  matrix.outerRows = found->outerRows, matrix.outerCols = found->outerCols;
  matrix.inner = found->inner, matrix.innerRows = found->innerRows, matrix.innerCols = found->innerCols;
  matrix.firstRow = found->firstRow, matrix.firstCol = found->firstCol;
  return matrix;
}

static int64_t product(ArrayRef<int64_t> shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t(1), std::multiplies<>());
}

std::optional<Matrix> operandHeads(top::AttentionOp op, unsigned operand, Value root, cube::ShapeOf shapeOf) {
  auto extents = op.getExtents();
  std::tuple<StringRef, uint64_t, int64_t> parts[] = {{op.getQLayout(), op.getQHeads(), extents.depth},
                                                      {op.getKLayout(), op.getKvHeads(), extents.depth},
                                                      {op.getVLayout(), op.getKvHeads(), extents.valueDepth}};
  auto [layout, heads, depth] = parts[operand];
  std::optional<cube::StridedView> view = viewThrough(op->getOperand(operand), root, shapeOf);
  std::optional<Matrix> matrix = view ? headsOf(*view, layout, heads, depth, product(shapeOf(root))) : std::nullopt;
  if (matrix)
    matrix->arg = argumentOf(root), matrix->element = getElementTypeOrSelf(root.getType());
  return matrix;
}

std::optional<Matrix> resultHeads(top::AttentionOp op, ArrayRef<int64_t> shape) {
  auto matrix = headsOf(cube::contiguous(shape), op.getResultLayout(), op.getQHeads(), op.getExtents().valueDepth,
                        product(shape));
  if (matrix)
    matrix->element = getElementTypeOrSelf(op.getType());
  return matrix;
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

SmallVector<int64_t> fourDimensions(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> four(4 - shape.size(), 1);
  llvm::append_range(four, shape);
  return four;
}

Matrix biasHeads(top::AttentionOp op, ArrayRef<int64_t> shape) {
  Matrix bias;
  bias.arg = argumentOf(op.getBias());
  bias.element = getElementTypeOrSelf(op.getBias().getType());
  bias.rows = shape[0] * shape[1] * shape[2];
  bias.cols = shape[3];
  bias.inner = op.getQHeads();
  bias.outerRows = shape[0] > 1 ? shape[1] * shape[2] : 0;
  bias.innerRows = shape[1] > 1 ? shape[2] : 0;
  return bias;
}

/// False where no instruction reads the bias as it is broadcast.
static bool readBias(top::AttentionOp op, Attention &a) {
  auto type = cast<RankedTensorType>(op.getBias().getType());
  SmallVector<int64_t> shape = fourDimensions(type.getShape());
  a.biasByRow = shape[2] > 1;
  Type element = type.getElementType();
  if (shape[3] != a.problem.keys || (element != a.element && (a.biasByRow || !element.isF32())))
    return false;
  a.bias = biasHeads(op, shape);
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
  if (op.getBias() && !readBias(op, a)) {
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
  a.problem.alike = a.problem.allKeys = !a.lengths && !a.before && !a.after;
  a.scale = op.getScale().convertToDouble();
  // Before outlining an operand is a tensor of its own; which views are read in place is decided later.
  std::optional<Matrix> parts[3], result;
  for (unsigned i = 0; i < 3; ++i)
    parts[i] = operandHeads(op, i, rootOf(op, i));
  result = resultHeads(op, op.getType().getShape());
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

top::AttentionOp attentionIn(func::FuncOp kernel) {
  auto ops = kernel.getBody().front().getOps<top::AttentionOp>();
  return ops.empty() ? top::AttentionOp() : *ops.begin();
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

/// Whether the estimate knows what both ways do: kernels of lengths end by them, and go over few tiles where rows see
/// some of the keys; heads side by side would be taken apart first.
static bool isEstimated(top::AttentionOp op) {
  bool few = op.getExtents().queries > 1 && (op.getCausal() || op.getWindow()[1] >= 0);
  bool sideBySide = op.getKvHeads() > 1 && (op.getKLayout() != "BNSD" || op.getVLayout() != "BNSD");
  return !op.getLengths() && op.getWindow()[0] < 0 && !few && !sideBySide;
}

bool isFasterApart(top::AttentionOp op, StringRef architecture, std::string &reason) {
  auto func = op->getParentOfType<func::FuncOp>();
  if (func && func->hasAttr(top::kSymbolsAttr))
    return false;
  if (auto asked = func ? func->getAttrOfType<StringAttr>(top::kAttentionsAttr) : StringAttr()) {
    reason = "as asked for";
    return asked == "apart";
  }
  auto attention = matchAttention(op, architecture, /*out=*/0);
  if (!attention || !isEstimated(op))
    return false;
  auto times = estimateAttention(attention->problem, attention->group, architecture);
  if (!times || times->apart >= times->together)
    return false;
  reason = llvm::formatv("one kernel would take {0:F1} us, separate ones {1:F1} us", times->together * 1e6,
                         times->apart * 1e6);
  return true;
}

} // namespace pto_mlir::attention
