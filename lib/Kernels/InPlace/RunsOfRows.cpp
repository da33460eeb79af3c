//===- RunsOfRows.cpp - several rows that are moved as one ------------------===//

#include "RunsOfRows.h"

#include "pto_mlir/Dialect/PTO/IR/Tiles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace pto_mlir::kernels {

/// Dimensions of a view at most.
constexpr size_t kMostDims = 5;

/// A constant number of rows.
static std::optional<int64_t> rowsIn(Value elements, int64_t row) {
  APInt constant;
  if (!matchPattern(elements, m_ConstantInt(&constant)) || constant.getSExtValue() % row != 0)
    return std::nullopt;
  return constant.getSExtValue() / row;
}

/// The tile that a transfer of the part moves; null for any other op.
static Value tileOf(Operation *op, Value part) {
  if (auto load = dyn_cast<pto::TLoadOp>(op); load && load.getSrc() == part)
    return load.getDst();
  auto store = dyn_cast<pto::TStoreOp>(op);
  return store && store.getDst() == part ? store.getSrc() : Value();
}

/// Whether the tile's rows follow one another without a gap, as those of the other shape would.
static bool isDense(pto::TileBufType tile, int64_t columns) {
  return tile.getLoc() == pto::AddressSpace::vec && tile.isRowMajor() && !tile.isBoxed() && tile.getCols() == columns &&
         tile.getValidCols() == columns && !tile.hasDynamicValidRows() && tile.getPad() == pto::PadValue::Null;
}

bool isRunOfRows(pto::MakeTensorViewOp view, int64_t row) {
  auto rows = rowsIn(view.getShape().back(), row), step = rowsIn(view.getStrides().back(), 1);
  if (!rows || *rows < 2 || step != 1 || view->use_empty() || view.getShape().size() >= kMostDims)
    return false;
  return llvm::all_of(view->getUsers(), [&](Operation *user) {
    auto part = dyn_cast<pto::PartitionViewOp>(user);
    auto size = part ? rowsIn(part.getSizes().back(), row) : std::nullopt;
    return size && rowsIn(part.getOffsets().back(), row) && llvm::all_of(part->getUsers(), [&](Operation *transfer) {
             Value tile = tileOf(transfer, part);
             return tile && isDense(cast<pto::TileBufType>(tile.getType()), *size * row);
           });
  });
}

static void splitPart(pto::PartitionViewOp part, Value view, int64_t row) {
  OpBuilder b(part);
  Location loc = part.getLoc();
  auto number = [&](int64_t value) { return b.create<arith::ConstantIndexOp>(loc, value).getResult(); };
  SmallVector<Value> offsets(part.getOffsets()), sizes(part.getSizes());
  int64_t rows = *rowsIn(sizes.back(), row);
  offsets.back() = number(*rowsIn(offsets.back(), row));
  sizes.back() = number(rows);
  offsets.push_back(number(0));
  sizes.push_back(number(row));
  auto type = cast<pto::PartitionTensorViewType>(part.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape.back() = rows;
  shape.push_back(row);
  auto split = b.create<pto::PartitionViewOp>(
      loc, pto::PartitionTensorViewType::get(b.getContext(), shape, type.getElementType()), view, offsets, sizes);
  for (Operation *transfer : llvm::make_early_inc_range(part->getUsers())) {
    Value tile = tileOf(transfer, part);
    auto whole = cast<pto::TileBufType>(tile.getType());
    b.setInsertionPoint(transfer);
    Value byRow = b.create<pto::TReshapeOp>(
        transfer->getLoc(), whole.withShape(whole.getRows() * rows, row).withValid(whole.getValidRows() * rows, row),
        tile);
    transfer->replaceUsesOfWith(tile, byRow);
    transfer->replaceUsesOfWith(part, split);
  }
  part.erase();
}

void splitRun(pto::MakeTensorViewOp view, int64_t row, int64_t pitch) {
  OpBuilder b(view);
  Location loc = view.getLoc();
  auto number = [&](int64_t value) { return b.create<arith::ConstantIndexOp>(loc, value).getResult(); };
  SmallVector<Value> shape(view.getShape()), strides(view.getStrides());
  int64_t rows = *rowsIn(shape.back(), row);
  shape.back() = number(rows);
  shape.push_back(number(row));
  strides.insert(strides.end() - 1, number(pitch));
  auto type = cast<pto::TensorViewType>(view.getType());
  SmallVector<int64_t> extents(type.getShape());
  extents.back() = rows;
  extents.push_back(row);
  auto split =
      b.create<pto::MakeTensorViewOp>(loc, pto::TensorViewType::get(b.getContext(), extents, type.getElementType()),
                                      view.getPtr(), shape, strides, view.getLayoutAttr());
  for (Operation *user : llvm::make_early_inc_range(view->getUsers()))
    splitPart(cast<pto::PartitionViewOp>(user), split, row);
  view.erase();
}

} // namespace pto_mlir::kernels
