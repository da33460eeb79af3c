// Scales of block-scaled products: codes of 8 bits, a pair of groups of 32 along k in each element of 16 bits.
#include "Lowering.h"
#include "pto_mlir/Support/MathExtras.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace pto_mlir::pypto_frontend {
namespace {

constexpr int64_t kLines = 16; ///< rows of the left scales, columns of the right ones, in one box of memory
constexpr int64_t kPair = 2;   ///< groups in one box

} // namespace

bool isScaleLayout(const ir::TensorType &type) {
  return type.tensor_view_ && (type.tensor_view_->layout == ir::TensorLayout::MX_A_ZZ ||
                               type.tensor_view_->layout == ir::TensorLayout::MX_B_NN);
}

/// In Mat a row (of the right scales: a column) holds its pairs of groups. In the memory of scales the tile has the
/// shape of the operand that it belongs to.
pto::TileBufType scaleTileType(MLIRContext &context, const ir::TileType &type) {
  auto space = type.GetMemorySpace().value_or(ir::MemorySpace::Vec);
  ir::TileView view = ir::TileViewOf(type);
  bool inMat = space == ir::MemorySpace::Mat && view.fractal == ir::kScaleFractal;
  CHECK(inMat || space == ir::MemorySpace::LeftScale || space == ir::MemorySpace::RightScale)
      << "a tile of FP8E8M0 holds the scales of a product: it is loaded from a tensor in layout MX_A_ZZ or MX_B_NN "
         "with target_memory=pl.Mem.Mat and moved to LeftScale or RightScale";
  bool left = inMat ? view.slayout == ir::TileLayout::row_major : space == ir::MemorySpace::LeftScale;
  auto known = [&](const std::vector<ir::ExprPtr> &shape, size_t axis) {
    auto extent = shape.size() == 2 ? ir::ConstantInt(shape[axis]) : std::nullopt;
    CHECK(extent) << "the extents of scales must be two constants, not " << ir::ShapeText(shape);
    return *extent;
  };
  const auto &valid = view.valid_shape.empty() ? type.shape_ : view.valid_shape;
  int64_t lines = known(type.shape_, !left), groups = known(type.shape_, left);
  int64_t validLines = known(valid, !left), validGroups = roundUp(known(valid, left), kPair);
  CHECK(groups % kPair == 0) << "scales of " << groups << " groups of 32; k must be a multiple of 64";
  if (inMat) {
    CHECK(lines % kLines == 0) << "scales of " << lines << (left ? " rows" : " columns")
                               << "; they lie in memory in boxes of " << kLines;
    groups /= kPair, validGroups /= kPair, validLines = roundUp(validLines, kLines);
  } else {
    groups *= ir::kScaleGroup, validGroups *= ir::kScaleGroup;
  }
  auto pair = IntegerType::get(&context, 16, IntegerType::Unsigned);
  auto make = [&](int64_t rows, int64_t cols, int64_t validRows, int64_t validCols) {
    bool columns = inMat && !left;
    return pto::TileBufType::get(&context, inMat ? pto::AddressSpace::mat : pto::AddressSpace::scaling, rows, cols,
                                 pair, validRows, validCols,
                                 columns ? pto::BLayout::col_major : pto::BLayout::row_major, pto::SLayout::none_box,
                                 512, pto::PadValue::Null, pto::CompactMode::Null);
  };
  return left ? make(lines, groups, validLines, validGroups) : make(groups, lines, validGroups, validLines);
}

/// Scales as pairs, which lie by boxes of lines, pairs of groups, lines. The outer axes count rows in ND,
/// columns in DN; an axis of one row or column behind them leaves rows or columns to them.
Value Lowering::scaleView(const ir::TensorType &type, Value pointer) {
  CHECK(type.shape_.size() == 2 && type.tensor_view_->stride.empty() && type.dtype_ == pypto::DataType::FP8E8M0)
      << "layout " << ir::ValueName(type.tensor_view_->layout)
      << " is that of a matrix of FP8E8M0 without strides of its own";
  bool left = type.tensor_view_->layout == ir::TensorLayout::MX_A_ZZ;
  auto over = [&](const ir::ExprPtr &extent, int64_t by) {
    auto known = ir::ConstantInt(extent);
    CHECK(!known || *known % by == 0) << "scales in boxes of " << kLines << " by " << kPair << " groups do not fill "
                                      << ir::ShapeText(type.shape_);
    return known ? indexConstant(*known / by)
                 : views.create<arith::DivUIOp>(loc, indexOf(extent), indexConstant(by)).getResult();
  };
  Value boxes = over(type.shape_[!left], kLines), pairs = over(type.shape_[left], kPair);
  Value lines = indexConstant(kLines), one = indexConstant(1);
  Value pitch = getConstantIntValue(pairs) ? indexConstant(*getConstantIntValue(pairs) * kLines)
                                           : views.create<arith::MulIOp>(loc, pairs, lines).getResult();
  SmallVector<int64_t> unknown(4, ShapedType::kDynamic);
  auto viewType = pto::TensorViewType::get(unknown, cast<pto::PtrType>(pointer.getType()).getElementType());
  SmallVector<Value> shape = {boxes, lines, one, pairs}, strides = {pitch, one, pitch, lines};
  if (!left)
    shape = {boxes, lines, pairs, one}, strides = {pitch, one, lines, pitch};
  auto view = views.create<pto::MakeTensorViewOp>(loc, viewType, pointer, shape, strides);
  view.setLayoutAttr(pto::LayoutAttr::get(b.getContext(), left ? pto::Layout::nd : pto::Layout::dn));
  return view;
}

Value Lowering::loadScales(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &var) {
  checkScaled(op);
  Value tile = destination(*op, var), view = valueOf(call.Operand("tensor"));
  auto type = cast<pto::TileBufType>(tile.getType());
  if (type.getLoc() != pto::AddressSpace::mat)
    fail(op->span_, "scales are loaded with target_memory=pl.Mem.Mat");
  bool left = type.getBLayout() == pto::BLayout::row_major;
  int64_t lines = left ? type.getValidRows() : type.getValidCols(),
          pairs = left ? type.getValidCols() : type.getValidRows();
  auto offsets = call.Elements("offsets");
  auto boxAt = [&](const ir::ExprPtr &offset, int64_t by) {
    auto known = ir::ConstantInt(offset);
    CHECK(!known || *known % by == 0) << "scales begin at a multiple of " << kLines << " lines and " << kPair
                                      << " groups";
    return known ? indexConstant(*known / by)
                 : b.create<arith::DivUIOp>(loc, indexOf(offset), indexConstant(by)).getResult();
  };
  Value box = boxAt(offsets[!left], kLines), pair = boxAt(offsets[left], kPair), zero = indexConstant(0);
  SmallVector<Value> begin = {box, zero, zero, pair}, extents;
  SmallVector<int64_t> sizes = {lines / kLines, kLines, 1, pairs};
  if (!left)
    begin = {box, zero, pair, zero}, sizes = {lines / kLines, kLines, pairs, 1};
  for (int64_t size : sizes)
    extents.push_back(indexConstant(size));
  auto partType = pto::PartitionTensorViewType::get(sizes, type.getElementType());
  Value part = b.create<pto::PartitionViewOp>(loc, partType, view, begin, extents);
  b.create<pto::TLoadOp>(loc, part, tile);
  return tile;
}

void Lowering::checkScaled(const ir::CallPtr &op) const {
  if (!processor().scaledProducts)
    fail(op->span_, op->op_->name_ + " of scales exists on " + pto::targetsWith(&pto::Target::scaledProducts) +
                        " only, not on " + processor().name);
}

/// From Mat to where the matrix unit reads the scales.
void Lowering::moveScales(Value from, Value to) {
  Value zero = indexConstant(0);
  b.create<pto::TExtractOp>(loc, from, zero, zero, to);
}

Value Lowering::moveScales(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &var) {
  checkScaled(op);
  Value from = valueOf(call.Operand("tile")), to = destination(*op, var);
  moveScales(from, to);
  return to;
}

} // namespace pto_mlir::pypto_frontend
