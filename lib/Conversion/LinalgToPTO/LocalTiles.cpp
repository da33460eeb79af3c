//===- LocalTiles.cpp - tiles of local memrefs --------------------===//

#include "LocalTiles.h"
#include "Roles.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "pto_mlir/Dialect/PTO/IR/Tiles.h"

using namespace mlir;

namespace pto_mlir {

bool isLocal(Value memref) {
  auto type = dyn_cast<MemRefType>(memref.getType());
  auto space = type ? dyn_cast_or_null<pto::AddressSpaceAttr>(type.getMemorySpace()) : nullptr;
  return space && space.getValue() == pto::AddressSpace::vec;
}

int64_t LocalTiles::pad(int64_t count) const { return llvm::alignTo(count, alignment); }

Value LocalTiles::rootOf(Value memref) const {
  while (Operation *op = memref.getDefiningOp()) {
    if (isa<memref::AllocOp>(op))
      break;
    memref = op->getOperand(0);
  }
  return memref;
}

/// Finds the vectors stored as columns. Ops on vectors only require all operands in one form, so the property
/// propagates through them.
LogicalResult LocalTiles::findColumns() {
  SmallVector<SmallVector<Value>> together;
  WalkResult walked = func.walk([&](linalg::LinalgOp op) {
    FailureOr<Roles> roles = Roles::compute(op);
    if (failed(roles))
      return WalkResult::interrupt();
    SmallVector<Value> vectors;
    for (OpOperand &operand : op->getOpOperands()) {
      auto type = dyn_cast<MemRefType>(operand.get().getType());
      if (!type || !isLocal(operand.get()))
        continue;
      Role role = roles->of(operand);
      if (role == Role::Column || role == Role::Scalar)
        columns.insert(rootOf(operand.get()));
      if (!roles->hasRows() && isVector(type) && role == Role::Full && roles->reduced() == Role::Full)
        vectors.push_back(rootOf(operand.get()));
    }
    together.push_back(std::move(vectors));
    return WalkResult::advance();
  });
  for (bool changed = true; changed;) {
    changed = false;
    for (ArrayRef<Value> group : together) {
      auto isColumn = [&](Value value) { return columns.contains(value); };
      if (!llvm::any_of(group, isColumn) || llvm::all_of(group, isColumn))
        continue;
      columns.insert(group.begin(), group.end());
      changed = true;
    }
  }
  return failure(walked.wasInterrupted());
}

/// A constant upper bound of `size`.
static std::optional<int64_t> upperBound(Value size) {
  if (std::optional<int64_t> constant = getConstantIntValue(size))
    return constant;
  if (auto whole = size.getDefiningOp<pto::KernelSizeOp>())
    return whole.getGreatest();
  if (auto multiple = size.getDefiningOp<affine::AffineApplyOp>(); multiple && multiple.getMapOperands().size() == 1)
    if (std::optional<int64_t> bound = upperBound(multiple.getMapOperands()[0])) {
      // Rows are positive multiples of the kernel's size.
      Attribute value = IntegerAttr::get(IndexType::get(size.getContext()), *bound);
      SmallVector<Attribute> folded;
      if (succeeded(multiple.getAffineMap().constantFold({value}, folded)))
        return cast<IntegerAttr>(folded.front()).getInt();
    }
  auto min = size.getDefiningOp<affine::AffineMinOp>();
  std::optional<int64_t> bound;
  if (!min)
    return bound;
  auto take = [&](std::optional<int64_t> most) {
    if (most)
      bound = std::min(bound.value_or(*most), *most);
  };
  for (AffineExpr expr : min.getAffineMap().getResults())
    if (auto constant = dyn_cast<AffineConstantExpr>(expr))
      take(constant.getValue());
  if (bound)
    return bound;
  // A tile size that is known at run time has a bound of its own.
  for (AffineExpr expr : min.getAffineMap().getResults()) {
    ValueRange dims = min.getDimOperands(), symbols = min.getSymbolOperands();
    if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
      take(upperBound(symbols[symbol.getPosition()]));
    else if (auto dim = dyn_cast<AffineDimExpr>(expr))
      take(upperBound(dims[dim.getPosition()]));
  }
  return bound;
}

LogicalResult LocalTiles::build() {
  SmallVector<memref::AllocOp> allocs;
  func.walk([&](memref::AllocOp op) { allocs.push_back(op); });
  auto align = [&](Type element) {
    unsigned bits = element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 0;
    if (bits == 8 || bits == 16)
      alignment = std::max<int64_t>(alignment, 256 / bits);
  };
  for (memref::AllocOp op : allocs)
    align(op.getType().getElementType());
  // A body may use a type that no buffer has, by a cast there and back.
  func.walk([&](linalg::LinalgOp op) {
    for (Operation &inner : *op.getBlock())
      llvm::for_each(inner.getResultTypes(), align);
  });
  if (failed(findColumns()))
    return failure();
  for (memref::AllocOp op : allocs) {
    MemRefType type = op.getType();
    if (!isLocal(op))
      return op.emitOpError("is a buffer that no tile was planned for");
    TileShape shape;
    unsigned nextDynamic = 0;
    int64_t perRaggedRow = 1; // rows per element of the dynamic dimension
    for (int64_t dim = 0; dim < type.getRank(); ++dim) {
      bool isColumn = dim + 1 == type.getRank();
      Extent &extent = isColumn ? shape.cols : shape.rows;
      if (!type.isDynamicDim(dim)) {
        extent.bound *= type.getDimSize(dim);
        if (extent.dynamic && !isColumn)
          perRaggedRow *= type.getDimSize(dim);
        continue;
      }
      Value size = op.getDynamicSizes()[nextDynamic++];
      std::optional<int64_t> bound = upperBound(size);
      if (!bound)
        return op.emitOpError("has a size without a constant bound");
      if (extent.dynamic || extent.bound != 1)
        return op.emitOpError("has a ragged dimension inside of another one");
      extent.bound = *bound;
      extent.dynamic = size;
    }
    OpBuilder builder(op);
    if (perRaggedRow != 1)
      shape.rows.dynamic = affine::makeComposedAffineApply(
          builder, op.getLoc(), builder.getAffineDimExpr(0) * perRaggedRow, {OpFoldResult(shape.rows.dynamic)});
    shapes[op] = shape;
    auto validOf = [](const Extent &extent) { return extent.dynamic ? ShapedType::kDynamic : extent.bound; };
    pto::TileBufType tileType;
    Value validRow = shape.rows.dynamic, validCol = shape.cols.dynamic;
    if (columns.contains(op.getResult())) {
      if (!isVector(type))
        return op.emitOpError("is used as a column vector but has rows and columns");
      tileType =
          pto::makeVecColumnTile(op.getContext(), pad(shape.cols.bound), type.getElementType(), validOf(shape.cols));
      validRow = shape.cols.dynamic;
      validCol = nullptr;
    } else {
      tileType = pto::makeVecTile(op.getContext(), shape.rows.bound, pad(shape.cols.bound), type.getElementType(),
                                  validOf(shape.rows), validOf(shape.cols));
    }
    tiles[op] = builder.create<pto::AllocTileOp>(op.getLoc(), tileType, validRow, validCol);
  }
  return success();
}

TileShape LocalTiles::shapeOf(Value memref) const {
  Value root = rootOf(memref);
  auto known = shapes.find(root);
  TileShape shape = known == shapes.end() ? TileShape() : known->second;
  if (memref == root)
    return shape;
  // Views are static, or reshapes of the whole memref.
  auto type = cast<MemRefType>(memref.getType());
  if (!type.hasStaticShape())
    return shape;
  shape = TileShape();
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    (dim + 1 == type.getRank() ? shape.cols : shape.rows).bound *= type.getDimSize(dim);
  return shape;
}

FailureOr<Value> LocalTiles::get(Value memref) {
  if (Value known = tiles.lookup(memref))
    return known;
  Operation *op = memref.getDefiningOp();
  if (!op)
    return func.emitOpError("has a local argument");
  if (isa<memref::CastOp, memref::CollapseShapeOp, memref::ExpandShapeOp>(op)) {
    Value source = op->getOperand(0);
    TileShape from = shapeOf(source), to = shapeOf(memref);
    if (from.rows.bound != to.rows.bound || from.cols.bound != to.cols.bound)
      return op->emitOpError("changes the rows and columns of a tile");
    FailureOr<Value> tile = get(source);
    if (succeeded(tile))
      tiles[memref] = *tile;
    return tile;
  }
  auto view = dyn_cast<memref::SubViewOp>(op);
  if (!view)
    return op->emitOpError("has no counterpart among tiles");
  FailureOr<Value> source = get(view.getSource());
  if (failed(source))
    return failure();
  TileShape whole = shapeOf(view.getSource());
  MemRefType sourceType = view.getSourceType();
  int64_t rank = sourceType.getRank();
  SmallVector<OpFoldResult> offsets = view.getMixedOffsets(), sizes = view.getMixedSizes();
  bool isWhole = true;
  auto alloc = view.getSource().getDefiningOp<memref::AllocOp>();
  for (auto [dim, size] : llvm::enumerate(sizes)) {
    bool all = sourceType.isDynamicDim(dim) ? alloc && dyn_cast_or_null<Value>(size) ==
                                                           alloc.getDynamicSizes()[sourceType.getDynamicDimIndex(dim)]
                                            : getConstantIntValue(size) == sourceType.getDimSize(dim);
    isWhole &= isConstantIntValue(offsets[dim], 0) && all;
  }
  if (isWhole && view.hasUnitStride())
    return tiles[memref] = *source;
  // Contiguous whole rows: the view has all of the last dimension, and of each dimension after the first one with more
  // than one element.
  bool legal = rank >= 2 && view.hasUnitStride() && isConstantIntValue(offsets[rank - 1], 0) &&
               getConstantIntValue(sizes[rank - 1]) == sourceType.getDimSize(rank - 1);
  OpBuilder builder(op);
  int64_t rows = 1, stride = 1;
  OpFoldResult first = builder.getIndexAttr(0);
  for (int64_t dim = rank - 2; legal && dim >= 0; --dim) {
    std::optional<int64_t> size = getConstantIntValue(sizes[dim]);
    bool inner = rows == stride; // all inner dimensions are complete
    legal =
        size && (*size == 1 || inner) && (dim == 0 || !sourceType.isDynamicDim(dim) || sourceType.getDimSize(0) == 1);
    if (!legal)
      break;
    if (!isConstantIntValue(offsets[dim], 0))
      first = affine::makeComposedFoldedAffineApply(builder, op->getLoc(),
                                                    builder.getAffineDimExpr(0) + builder.getAffineDimExpr(1) * stride,
                                                    {first, offsets[dim]});
    rows *= *size;
    if (!sourceType.isDynamicDim(dim))
      stride *= sourceType.getDimSize(dim);
    else
      break; // all outer dimensions are 1
  }
  if (!legal)
    return op->emitOpError("takes a part of a tile that does not consist of whole rows");
  Value row = getValueOrCreateConstantIndexOp(builder, op->getLoc(), first);
  Value zero = builder.create<arith::ConstantIndexOp>(op->getLoc(), 0);
  Value subset = builder.create<pto::SubsetOp>(op->getLoc(), *source, ValueRange{row, zero},
                                               ArrayRef<int64_t>{rows, pad(whole.cols.bound)});
  tiles[memref] = subset;
  return subset;
}

} // namespace pto_mlir
