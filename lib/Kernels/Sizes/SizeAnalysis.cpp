//===- SizeAnalysis.cpp - extents known at run time -----------------------===//

#include "SizeAnalysis.h"

#include "pto_mlir/Dialect/PTO/IR/PTO.h"
#include "pto_mlir/Dialect/Top/IR/Names.h"
#include "pto_mlir/Dialect/Top/IR/Top.h"

using namespace mlir;

namespace pto_mlir::kernels {

SizeAnalysis::SizeAnalysis(func::FuncOp kernel) {
  for (BlockArgument argument : kernel.getArguments())
    if (auto map = kernel.getArgAttrOfType<AffineMapAttr>(argument.getArgNumber(), pto::kSizesAttr))
      set(argument, Sizes(map.getValue().getResults()));
  if (auto most = kernel->getAttrOfType<DenseI64ArrayAttr>(pto::kGreatestSizesAttr))
    greatest.assign(most.asArrayRef().begin(), most.asArrayRef().end());
}

SizeAnalysis SizeAnalysis::ofMain(func::FuncOp main) {
  SizeAnalysis analysis;
  for (BlockArgument argument : main.getArguments())
    if (auto map = main.getArgAttrOfType<AffineMapAttr>(argument.getArgNumber(), top::kSizesAttr))
      analysis.set(argument, Sizes(map.getValue().getResults()));
  for (auto symbol : main->getAttrOfType<ArrayAttr>(top::kSymbolsAttr).getAsRange<DictionaryAttr>())
    analysis.greatest.push_back(symbol.getAs<IntegerAttr>("greatest").getInt());
  return analysis;
}

Sizes SizeAnalysis::of(Value value) const {
  if (auto it = known.find(value); it != known.end())
    return it->second;
  return constantSizes(cast<RankedTensorType>(value.getType()));
}

/// Windows that slide over an extent of `size`, a multiple of a scalar and maybe padded: nullopt unless their number is
/// a multiple of that scalar, too.
static std::optional<AffineExpr> countWindows(AffineExpr size, const WindowDim &window, int64_t taps) {
  int64_t padding = 0;
  if (auto sum = dyn_cast<AffineBinaryOpExpr>(size); sum && size.getKind() == AffineExprKind::Add)
    if (auto constant = dyn_cast<AffineConstantExpr>(sum.getRHS()))
      size = sum.getLHS(), padding = constant.getValue();
  Factored parts = factor(size);
  int64_t reach = window.dilation * (taps - 1) + 1;
  if (parts.coefficient % window.stride != 0 || llvm::divideFloorSigned(padding - reach, window.stride) != -1)
    return std::nullopt;
  return parts.rest * (parts.coefficient / window.stride);
}

Sizes SizeAnalysis::ofLoops(linalg::LinalgOp op) const {
  Sizes loops;
  for (int64_t range : op.getStaticLoopRanges())
    loops.push_back(getAffineConstantExpr(range, op.getContext()));
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<RankedTensorType>(operand.get().getType()))
      continue;
    Sizes sizes = of(operand.get());
    AffineMap map = op.getMatchingIndexingMap(&operand);
    for (auto [expr, size] : llvm::zip_equal(map.getResults(), sizes))
      if (isa<AffineConstantExpr>(size)) {
      } else if (auto loop = dyn_cast<AffineDimExpr>(expr)) {
        loops[loop.getPosition()] = size;
      } else if (auto window = windowDim(expr)) {
        if (auto count = countWindows(size, *window, op.getStaticLoopRanges()[window->tap]))
          loops[window->output] = *count;
      }
  }
  // A gather reads its data where the loops say, but along one dimension.
  for (auto extract : op.getBlock()->getOps<tensor::ExtractOp>())
    for (auto [place, size] : llvm::zip_equal(extract.getIndices(), of(extract.getTensor())))
      if (auto loop = place.getDefiningOp<linalg::IndexOp>(); loop && !isa<AffineConstantExpr>(size))
        loops[loop.getDim()] = size;
  return loops;
}

bool isUniformAlong(Value value, unsigned dim) {
  if (value.getDefiningOp<tensor::EmptyOp>())
    return true;
  auto op = value.getDefiningOp<linalg::LinalgOp>();
  if (!op || op.getNumReductionLoops() != 0 || op.hasIndexSemantics())
    return false;
  auto loop = dyn_cast<AffineDimExpr>(op.getIndexingMapMatchingResult(cast<OpResult>(value)).getResult(dim));
  return loop &&
         llvm::all_of(op.getDpsInitsMutable(),
                      [&](OpOperand &init) {
                        return !op.payloadUsesValueFromOperand(&init) || isUniformAlong(init.get(), dim);
                      }) &&
         llvm::all_of(op.getDpsInputOperands(), [&](OpOperand *input) {
           return !op.getMatchingIndexingMap(input).isFunctionOfDim(loop.getPosition());
         });
}

LogicalResult SizeAnalysis::visitLinalg(linalg::LinalgOp op) {
  for (auto extract : op.getBlock()->getOps<tensor::ExtractOp>())
    for (auto [place, size] : llvm::zip_equal(extract.getIndices(), of(extract.getTensor())))
      if (!place.getDefiningOp<linalg::IndexOp>() && !isa<AffineConstantExpr>(size))
        return op->emitError("gathers along a size that is known at run time");
  Sizes loops = ofLoops(op);
  if (areConstant(loops)) {
    for (OpOperand &operand : op->getOpOperands())
      if (isa<RankedTensorType>(operand.get().getType()) && isSymbolic(operand.get()))
        return op->emitError("reads windows of a size that is known at run time, as many as are no multiple of it");
    return success();
  }
  for (auto [iterator, size] : llvm::zip_equal(op.getIteratorTypesArray(), loops))
    if (iterator == utils::IteratorType::reduction && !isa<AffineConstantExpr>(size))
      return op->emitError("reduces over a size that is known at run time");
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<RankedTensorType>(operand.get().getType()))
      continue;
    Sizes sizes = of(operand.get());
    AffineMap map = op.getMatchingIndexingMap(&operand);
    for (auto [i, expr] : llvm::enumerate(map.getResults())) {
      auto loop = dyn_cast<AffineDimExpr>(expr);
      bool symbolic = !isa<AffineConstantExpr>(sizes[i]);
      auto window = windowDim(expr);
      if (!loop && symbolic && (!window || isa<AffineConstantExpr>(loops[window->output])))
        return op->emitError("reads windows of a size that is known at run time, as many as are no multiple of it");
      if (loop && sizes[i].getKind() == AffineExprKind::Add)
        return op->emitError("reads a tensor that is padded along a size that is known at run time");
      if (!loop || sizes[i] == loops[loop.getPosition()])
        continue;
      bool overwritten = op.isDpsInit(&operand) && !op.payloadUsesValueFromOperand(&operand);
      if (overwritten || isUniformAlong(operand.get(), i))
        continue;
      return op->emitError("combines a tensor of ")
             << operand.get().getType() << " with a size that is known at run time";
    }
  }
  for (auto [result, init] : llvm::zip_equal(op->getResults(), op.getDpsInitsMutable())) {
    Sizes sizes = of(init.get());
    AffineMap map = op.getMatchingIndexingMap(&init);
    for (auto [i, expr] : llvm::enumerate(map.getResults()))
      if (auto loop = dyn_cast<AffineDimExpr>(expr))
        sizes[i] = loops[loop.getPosition()];
    known[result] = sizes;
  }
  return success();
}

LogicalResult SizeAnalysis::visitCollapse(tensor::CollapseShapeOp op) {
  Sizes from = of(op.getSrc()), to;
  for (ArrayRef<int64_t> group : op.getReassociationIndices()) {
    Sizes parts = llvm::map_to_vector(group, [&](int64_t dim) { return from[dim]; });
    if (!isLeading(parts))
      return op->emitError("merges a size that is known at run time with others in front of it");
    to.push_back(product(parts, op.getContext()));
  }
  known[op.getResult()] = to;
  return success();
}

LogicalResult SizeAnalysis::visitExpand(tensor::ExpandShapeOp op) {
  Sizes from = of(op.getSrc());
  ArrayRef<int64_t> shape = op.getResultType().getShape();
  Sizes to = constantSizes(op.getResultType());
  for (auto [size, group] : llvm::zip_equal(from, op.getReassociationIndices())) {
    if (isa<AffineConstantExpr>(size))
      continue;
    if (auto split = splitProduct(size, shape.slice(group.front(), group.size()), greatest)) {
      llvm::copy(*split, to.begin() + group.front());
      continue;
    }
    // All but the outermost parts that are not 1 keep their extents.
    auto outer = llvm::find_if(group, [&](int64_t dim) { return shape[dim] != 1; });
    int64_t inner = 1;
    for (auto dim = outer + 1; dim < group.end(); ++dim)
      inner *= shape[*dim];
    Factored parts = factor(size);
    if (outer == group.end() || parts.coefficient % inner != 0)
      return op->emitError("splits a size that is known at run time into parts that do not divide it for all values");
    to[*outer] = parts.rest * (parts.coefficient / inner);
  }
  known[op.getResult()] = to;
  return success();
}

/// Is dimension `dim` of the source of a slice or pad in the result as it is?
static bool keepsDimension(Operation *op, unsigned dim) {
  if (auto pad = dyn_cast<tensor::PadOp>(op))
    return pad.getStaticLow()[dim] == 0 && pad.getStaticHigh()[dim] == 0;
  auto slice = cast<tensor::ExtractSliceOp>(op);
  return slice.getType().getRank() == slice.getSourceType().getRank() && slice.getStaticOffset(dim) == 0 &&
         slice.getStaticSize(dim) == slice.getSourceType().getDimSize(dim) && slice.getStaticStride(dim) == 1;
}

/// Slices and concatenations along other dimensions than the size; pads, too, but for windows.
LogicalResult SizeAnalysis::visitMovement(Operation *op) {
  Sizes sizes = constantSizes(cast<RankedTensorType>(op->getResult(0).getType()));
  auto concat = dyn_cast<tensor::ConcatOp>(op);
  for (auto [dim, size] : llvm::enumerate(of(op->getOperand(0)))) {
    if (isa<AffineConstantExpr>(size))
      continue;
    auto pad = dyn_cast<tensor::PadOp>(op);
    if (concat ? concat.getDim() == dim : !pad && !keepsDimension(op, dim))
      return op->emitError("moves along a size that is known at run time");
    sizes[dim] = pad ? size + (pad.getStaticLow()[dim] + pad.getStaticHigh()[dim]) : size;
  }
  for (Value input : concat ? concat.getInputs() : ValueRange()) {
    Sizes given = of(input);
    for (auto [dim, size] : llvm::enumerate(given))
      if (dim != concat.getDim() && size != sizes[dim])
        return op->emitError("joins tensors, of which only some have a size that is known at run time");
    if (!isa<AffineConstantExpr>(given[concat.getDim()]))
      return op->emitError("moves along a size that is known at run time");
  }
  known[op->getResult(0)] = sizes;
  return success();
}

/// An attention whose batch, rows of Q or rows of K and V are sizes; heads and their depths are not.
LogicalResult SizeAnalysis::visitAttention(top::AttentionOp op) {
  // [batch, rows] of a tensor of heads, whatever its layout; nullopt where another extent is a size.
  auto read = [](const Sizes &sizes, StringRef layout) -> std::optional<std::pair<AffineExpr, AffineExpr>> {
    unsigned rows = layout == "BNSD" ? 2 : 1;
    for (auto [i, size] : llvm::enumerate(sizes))
      if (i != 0 && i != rows && !isa<AffineConstantExpr>(size))
        return std::nullopt;
    return std::pair(sizes[0], sizes[rows]);
  };
  auto query = read(of(op.getQuery()), op.getQLayout()), key = read(of(op.getKey()), op.getKLayout()),
       value = read(of(op.getValue()), op.getVLayout());
  auto [batch, queries] = query.value_or(std::pair(AffineExpr(), AffineExpr()));
  if (!query || !key || key != value || key->first != batch)
    return op->emitError("is an attention whose heads or their depths are known at run time");
  if (op.getBias()) {
    AffineExpr scores[] = {batch, getAffineConstantExpr(op.getQHeads(), op.getContext()), queries, key->second};
    Sizes sizes = of(op.getBias());
    for (auto [size, expected] : llvm::zip_equal(sizes, ArrayRef(scores).take_back(sizes.size())))
      if (size != expected && size != getAffineConstantExpr(1, op.getContext()))
        return op->emitError("is an attention with a bias whose size at run time is another one");
  }
  if (op.getLengths() && of(op.getLengths())[0] != batch)
    return op->emitError("is an attention with lengths of another batch at run time");
  Sizes sizes = constantSizes(op.getType());
  sizes[0] = batch;
  sizes[op.getResultLayout() == "BNSD" ? 2 : 1] = queries;
  known[op.getOutput()] = sizes;
  return success();
}

LogicalResult SizeAnalysis::visit(Operation *op) {
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    return visitLinalg(linalgOp);
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op))
    return visitCollapse(collapse);
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
    return visitExpand(expand);
  if (isa<tensor::ExtractSliceOp, tensor::PadOp, tensor::ConcatOp>(op))
    return visitMovement(op);
  if (auto attention = dyn_cast<top::AttentionOp>(op))
    return visitAttention(attention);
  if (auto repeat = dyn_cast<top::RepeatRowsOp>(op)) {
    Sizes sizes = of(repeat.getLike());
    if (ArrayRef(sizes).drop_front() != ArrayRef(of(repeat.getInput())))
      return op->emitError("repeats rows of another size at run time");
    known[repeat.getOutput()] = sizes;
    return success();
  }
  if (auto take = dyn_cast<top::TakeRowsOp>(op)) {
    Sizes sizes = of(take.getInput());
    if (!isa<AffineConstantExpr>(sizes[2]))
      return op->emitError("takes rows whose length is known at run time");
    known[take.getOutput()] = {sizes[0], getAffineConstantExpr(take.getCount(), op->getContext()), sizes[2]};
    return success();
  }
  if (auto transpose = dyn_cast<top::TransposeRowsOp>(op)) {
    Sizes sizes = of(transpose.getInput());
    known[transpose.getOutput()] = {sizes[1], sizes[0]};
    return success();
  }
  if (auto reduce = dyn_cast<top::ReduceRowsOp>(op)) {
    Sizes sizes = of(reduce.getInput());
    if (!isa<AffineConstantExpr>(sizes[2]))
      return op->emitError("reduces rows whose length is known at run time");
    if (reduce.getParts() == 1)
      known[reduce.getOutput()] = {sizes[0], sizes[2]};
    else
      known[reduce.getOutput()] = {sizes[0], getAffineConstantExpr(reduce.getParts(), op->getContext()), sizes[2]};
    return success();
  }
  if (auto sizes = op->getAttrOfType<AffineMapAttr>(top::kSizesAttr); sizes && op->getNumResults() == 1)
    known[op->getResult(0)] = Sizes(sizes.getValue().getResults());
  bool symbolic = llvm::any_of(op->getOperands(), [&](Value operand) {
    return isa<RankedTensorType>(operand.getType()) && isSymbolic(operand);
  });
  if (symbolic && !op->hasTrait<OpTrait::IsTerminator>())
    return op->emitError("has no rule for sizes that are known at run time");
  return success();
}

} // namespace pto_mlir::kernels
