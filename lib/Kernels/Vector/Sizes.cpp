//===- Sizes.cpp - kernels on tensors whose rows are known at run time ----===//
//
// Up to here a kernel has the shapes of its greatest sizes. Now each operand that
// has a size at run time becomes the part that is there, a slice of its argument;
// tiling then cuts that size into tiles whose last one is smaller.
//
//===----------------------------------------------------------------------===//

#include "../Sizes/Extents.h"
#include "Phases.h"
#include "WindowTiling.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "pto_mlir/Dialect/PTO/IR/PTO.h"

using namespace mlir;

namespace pto_mlir::vector_kernels {

using kernels::SizeAnalysis;
using kernels::Sizes;
using linalg::LinalgOp;

namespace {

class RowSlicer {
public:
  explicit RowSlicer(func::FuncOp func) : func(func), builder(func.getContext()), analysis(func), extents(func) {}

  LogicalResult run();

private:
  LogicalResult analyse();
  void noteImageRows(LinalgOp window);
  Value slice(Value value, ArrayRef<AffineExpr> sizes);
  Value operand(OpOperand &operand, ArrayRef<AffineExpr> loops, LinalgOp op);
  Value padded(tensor::PadOp pad, ArrayRef<AffineExpr> sizes);
  void rewrite(LinalgOp op);

  func::FuncOp func;
  OpBuilder builder;
  SizeAnalysis analysis;
  kernels::Extents extents;
  llvm::DenseMap<Value, Value> parts; ///< of a whole tensor
  llvm::DenseMap<Operation *, Sizes> loopsOf;
  SmallVector<Operation *> sunk; ///< what makes whole results of parts
};

/// Do only windows read the op's result, padded or not?
static bool isWindowInput(Operation *op) {
  return !op->use_empty() && llvm::all_of(op->getUsers(), [op](Operation *user) {
    if (isa<tensor::PadOp>(user))
      return isWindowInput(user);
    auto window = dyn_cast<LinalgOp>(user);
    return window && isWindowOp(window) && window.getDpsInputs()[0].getDefiningOp() == op;
  });
}

/// Notes the rows of the image at run time on windows that slide over them.
void RowSlicer::noteImageRows(LinalgOp window) {
  Value image = window.getDpsInputs()[0];
  if (auto pad = image.getDefiningOp<tensor::PadOp>())
    image = pad.getSource();
  AffineExpr size = analysis.of(image)[1];
  if (!isa<AffineConstantExpr>(size))
    window->setAttr(kImageRowsAttr, AffineMapAttr::get(AffineMap::get(0, 1, size)));
}

LogicalResult RowSlicer::analyse() {
  AffineExpr rows;
  for (Operation &op : func.getBody().front()) {
    // Destinations are reshaped arguments; what else an op may be, AssignSizes has seen.
    if (failed(analysis.visit(&op)))
      return failure();
    for (Value result : op.getResults()) {
      if (!isa<RankedTensorType>(result.getType()) || !analysis.isSymbolic(result))
        continue;
      Sizes sizes = analysis.of(result);
      std::optional<int64_t> row = kernels::symbolicRow(sizes);
      if (!row)
        return op.emitError("makes a tensor whose size at run time is not its outermost one");
      // The image that a window slides over has rows of its own.
      if (!isa<LinalgOp>(op) || isWindowInput(&op))
        continue;
      if (rows && rows != sizes[*row])
        return op.emitError("has another number of rows at run time than the kernel's other ops");
      rows = sizes[*row];
    }
    if (auto linalgOp = dyn_cast<LinalgOp>(op)) {
      loopsOf[&op] = analysis.ofLoops(linalgOp);
      if (isWindowOp(linalgOp))
        noteImageRows(linalgOp);
    }
  }
  if (!rows)
    return func.emitError("has a size at run time that none of its ops computes on");
  func->setAttr(pto::kGreatestRowsAttr, builder.getI64IntegerAttr(extents.greatest(rows)));
  return success();
}

/// The part of a whole tensor that is there; made where it is read first.
Value RowSlicer::slice(Value value, ArrayRef<AffineExpr> sizes) {
  Value &part = parts[value];
  if (part)
    return part;
  SmallVector<OpFoldResult> zeros(sizes.size(), builder.getIndexAttr(0)), ones(sizes.size(), builder.getIndexAttr(1));
  return part = builder.create<tensor::ExtractSliceOp>(value.getLoc(), value, zeros, extents.of(sizes), ones);
}

/// The part of a padded tensor: the part of the tensor, padded.
Value RowSlicer::padded(tensor::PadOp pad, ArrayRef<AffineExpr> sizes) {
  if (Value part = parts.lookup(pad.getResult()))
    return part;
  Value source = parts.lookup(pad.getSource());
  Sizes ofSource = analysis.of(pad.getSource());
  if (!source)
    source = slice(pad.getSource(), ofSource);
  SmallVector<int64_t> shape(pad.getResultType().getShape());
  for (auto [extent, size] : llvm::zip_equal(shape, sizes))
    if (!isa<AffineConstantExpr>(size))
      extent = ShapedType::kDynamic;
  auto type = RankedTensorType::get(shape, pad.getResultType().getElementType());
  return parts[pad.getResult()] = builder.create<tensor::PadOp>(pad.getLoc(), type, source, pad.getMixedLowPad(),
                                                                pad.getMixedHighPad(), pad.getConstantPaddingValue());
}

/// What the op reads or writes instead: the part of a tensor, an empty tensor of that size.
Value RowSlicer::operand(OpOperand &use, ArrayRef<AffineExpr> loops, LinalgOp op) {
  Value value = use.get();
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !type.hasStaticShape())
    return value;
  Sizes sizes = kernels::constantSizes(type);
  for (auto [i, expr] : llvm::enumerate(op.getMatchingIndexingMap(&use).getResults()))
    if (auto loop = dyn_cast<AffineDimExpr>(expr))
      sizes[i] = loops[loop.getPosition()];
  if (kernels::areConstant(sizes))
    return value;
  if (value.getDefiningOp<tensor::EmptyOp>())
    return builder.create<tensor::EmptyOp>(value.getLoc(), extents.of(sizes), type.getElementType());
  if (auto pad = value.getDefiningOp<tensor::PadOp>(); pad && pad.getConstantPaddingValue())
    return padded(pad, sizes);
  auto producer = value.getDefiningOp<LinalgOp>();
  if (!producer || parts.contains(value))
    return slice(value, sizes);
  // A broadcast: made with that size.
  SmallVector<Value> operands(producer->getOperands());
  SmallVector<Type> types;
  for (OpOperand &init : producer.getDpsInitsMutable()) {
    Value empty = builder.create<tensor::EmptyOp>(value.getLoc(), extents.of(sizes), getElementTypeOrSelf(init.get()));
    operands[init.getOperandNumber()] = empty;
    types.push_back(empty.getType());
  }
  return parts[value] =
             mlir::clone(builder, producer, types, operands)->getResult(cast<OpResult>(value).getResultNumber());
}

void RowSlicer::rewrite(LinalgOp op) {
  builder.setInsertionPoint(op);
  const Sizes &loops = loopsOf[op];
  SmallVector<Value> operands;
  for (OpOperand &use : op->getOpOperands())
    operands.push_back(operand(use, loops, op));
  SmallVector<Type> types;
  for (OpOperand &init : op.getDpsInitsMutable())
    types.push_back(operands[init.getOperandNumber()].getType());
  Operation *part = mlir::clone(builder, op, types, operands);
  for (auto [whole, result] : llvm::zip_equal(op->getResults(), part->getResults())) {
    parts[whole] = result;
    // Reshapes and returns are of whole tensors: the part lies in its destination.
    if (llvm::all_of(whole.getUsers(), llvm::IsaPred<LinalgOp, tensor::PadOp>))
      continue;
    Value init = op.getTiedOpOperand(cast<OpResult>(whole))->get();
    Sizes sizes = analysis.of(whole);
    SmallVector<OpFoldResult> zeros(sizes.size(), builder.getIndexAttr(0)), ones(sizes.size(), builder.getIndexAttr(1));
    Value back = builder.create<tensor::InsertSliceOp>(op.getLoc(), result, init, zeros, extents.of(sizes), ones);
    whole.replaceUsesWithIf(back, [](OpOperand &use) { return !isa<LinalgOp, tensor::PadOp>(use.getOwner()); });
  }
}

LogicalResult RowSlicer::run() {
  if (failed(analyse()))
    return failure();
  SmallVector<LinalgOp> ops;
  // The image of such a window stays whole: its rows are computed where they are read.
  for (LinalgOp op : func.getBody().front().getOps<LinalgOp>())
    if (!kernels::areConstant(loopsOf[op]) && !(isWindowInput(op) && !isa<AffineConstantExpr>(loopsOf[op][1])))
      ops.push_back(op);
  for (LinalgOp op : ops)
    rewrite(op);
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(func.getBody().front())))
    if (isa<LinalgOp, tensor::PadOp>(op) && parts.contains(op.getResult(0)) && op.use_empty())
      op.erase();
  // A loop that stores several results stands where the last of them stood.
  Block &block = func.getBody().front();
  for (Operation &op : llvm::make_early_inc_range(block.without_terminator()))
    if (isa<tensor::InsertSliceOp>(op) ||
        (isa<tensor::ExpandShapeOp>(op) && isa_and_nonnull<tensor::InsertSliceOp>(op.getOperand(0).getDefiningOp())))
      sunk.push_back(&op);
  for (Operation *op : sunk)
    op->moveBefore(block.getTerminator());
  return success();
}

} // namespace

LogicalResult sliceRows(func::FuncOp func) {
  return func->hasAttr(pto::kGreatestSizesAttr) ? RowSlicer(func).run() : success();
}

/// The extent of a tensor along `dim`, where it follows from the destination in which the tensor is made.
static std::optional<OpFoldResult> extentOf(Value value, int64_t dim) {
  while (true) {
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
      if (!loop)
        return std::nullopt;
      value = loop.getTiedLoopInit(argument)->get();
    } else if (auto loop = value.getDefiningOp<scf::ForOp>()) {
      value = loop.getTiedLoopInit(cast<OpResult>(value))->get();
    } else if (auto op = value.getDefiningOp<LinalgOp>()) {
      value = op.getTiedOpOperand(cast<OpResult>(value))->get();
    } else if (auto empty = value.getDefiningOp<tensor::EmptyOp>()) {
      return empty.getMixedSizes()[dim];
    } else if (auto slice = value.getDefiningOp<tensor::ExtractSliceOp>(); slice && slice.getDroppedDims().none()) {
      return slice.getMixedSizes()[dim];
    } else {
      return std::nullopt;
    }
  }
}

void resolveExtents(func::FuncOp func) {
  if (!func->hasAttr(pto::kGreatestRowsAttr))
    return;
  SmallVector<tensor::DimOp> dims;
  func.walk([&](tensor::DimOp op) { dims.push_back(op); });
  for (tensor::DimOp op : dims) {
    std::optional<int64_t> dim = op.getConstantIndex();
    auto extent = dim ? extentOf(op.getSource(), *dim) : std::nullopt;
    if (auto value = extent ? dyn_cast<Value>(*extent) : Value()) {
      op.replaceAllUsesWith(value);
      op.erase();
    }
  }
}

SmallVector<int64_t> loopBounds(LinalgOp op) {
  SmallVector<int64_t> bounds = op.getStaticLoopRanges();
  auto func = op->getParentOfType<func::FuncOp>();
  if (auto rows = func ? func->getAttrOfType<IntegerAttr>(pto::kGreatestRowsAttr) : IntegerAttr())
    for (int64_t &bound : bounds)
      if (ShapedType::isDynamic(bound))
        bound = rows.getInt();
  return bounds;
}

} // namespace pto_mlir::vector_kernels
