// Gathers, scatters and comparisons of tensors, which have more than one operation of tiles.
#include "TileNodes.h"
#include "Tiler.h"
#include "Types.h"

namespace pto_mlir::pypto_frontend {

namespace ir = pypto::ir;

namespace {

/// The axis that `dim` names, from the front.
size_t axisOf(const ir::OpView &view, const ir::Span &place) {
  auto dim = view.Operand("dim") ? ir::ConstantInt(view.Operand("dim")) : std::nullopt;
  auto rank = int64_t(ir::ShapeOf(view.Operand("input")->type_)->size());
  if (!dim || *dim < -rank || *dim >= rank)
    fail(place, std::string(view.row()->name) + " needs a constant dim, " + std::to_string(-rank) + " to " +
                    std::to_string(rank - 1));
  return size_t(*dim < 0 ? *dim + rank : *dim);
}

} // namespace

/// The operand as a tile of two axes, and its extents.
ir::VarPtr Tiler::matrix(const ir::ExprPtr &operand, int64_t &rows, int64_t &columns) {
  ir::VarPtr held = tile(operand);
  const auto &shape = *ir::ShapeOf(held->type_);
  std::tie(rows, columns) = extentsOf(shape, place);
  return shape.size() == 2 ? held : reshaped(held, {number(rows), number(columns)});
}

ir::VarPtr Tiler::rowOf(const ir::VarPtr &tile, int64_t row, int64_t columns, int64_t rows) {
  return bind(make("tile.slice", {tile, tuple({number(rows), number(columns)}), tuple({number(row), number(0)})}));
}

ir::VarPtr Tiler::emptyMatrix(int64_t rows, int64_t columns, pypto::DataType dtype) {
  return bind(make("tile.create", {tuple({number(rows), number(columns)})}, {{"dtype", dtype}}));
}

ir::VarPtr Tiler::gathered(const ir::OpView &view, const ir::CallPtr &call) {
  if (view.Operand("kvalue"))
    fail(place, "tensor.gather by kvalue gives two tensors; assign them");
  if (view.Keyword("mask_pattern"))
    return bind(make("tile.gather_mask", {tile(view.Operand("input"))}, call->kwargs_));
  if (size_t axis = axisOf(view, place); axis + 1 < ir::ShapeOf(view.Operand("input")->type_)->size())
    return gatheredAcross(view, axis);
  int64_t rows, columns, indexRows, width;
  ir::VarPtr source = matrix(view.Operand("input"), rows, columns);
  ir::VarPtr index = matrix(view.Operand("index"), indexRows, width);
  if (indexRows > rows || indexRows > kMaxRuns)
    fail(place, "tensor.gather takes up to " + std::to_string(std::min(rows, kMaxRuns)) + " rows of indices, not " +
                    std::to_string(indexRows));
  ir::VarPtr made = emptyMatrix(indexRows, width, *ir::ElementTypeOf(source->type_));
  for (int64_t row = 0; row < indexRows; ++row) {
    ir::VarPtr part = bind(make("tile.gather", {rowOf(source, row, columns), rowOf(index, row, width)}));
    made = bind(make("tile.assemble", {made, part, tuple({number(row), number(0)})}));
  }
  const auto &shape = *ir::ShapeOf(call->type_);
  return shape.size() == 2 ? made : reshaped(made, shape);
}

/// Of each row the indices of elements that compare true with a number, and how many these are; none of other calls.
std::vector<ir::VarPtr> Tiler::comparedRows(const ir::CallPtr &call) {
  ir::OpView view(*call);
  if (!view.row() || view.row()->name != "tensor.gather" || !view.Operand("kvalue"))
    return {};
  int64_t rows, columns;
  ir::VarPtr source = matrix(view.Operand("input"), rows, columns);
  ir::VarPtr scratch = emptyMatrix(rows, columns, *ir::ElementTypeOf(source->type_));
  ir::VarPtr both =
      bind(make("tile.gather_compare", {source, rewritten(view.Operand("kvalue")), scratch}, call->kwargs_));
  std::vector<ir::VarPtr> found;
  for (int64_t i = 0; i < 2; ++i) {
    auto item = std::make_shared<const ir::TupleGetItemExpr>(both, i, place);
    found.push_back(std::make_shared<const ir::Var>(name, item->type_, place));
    out->push_back(std::make_shared<const ir::AssignStmt>(found.back(), item, place));
  }
  found[1] = reshaped(found[1], {number(1), number(rows)});
  return found;
}

/// The numbers of the columns that a pattern selects, as one row.
ir::VarPtr Tiler::selected(ir::MaskPattern pattern, int64_t columns) {
  if (pattern == ir::MaskPattern::None_)
    fail(place, "mask_pattern selects nothing");
  bool all = pattern == ir::MaskPattern::P1111, half = !all && pattern <= ir::MaskPattern::P1010;
  int64_t period = all ? 1 : half ? 2 : 4;
  int64_t first = all ? 0 : int64_t(pattern) - int64_t(half ? ir::MaskPattern::P0101 : ir::MaskPattern::P0001);
  if (columns % period)
    fail(place, "mask_pattern needs columns in multiples of " + std::to_string(period));
  ir::VarPtr counted = bind(
      make("tile.ci", {number(0), tuple({number(1), number(columns / period)})}, {{"dtype", pypto::DataType::INT32}}));
  if (period > 1)
    counted = bind(make("tile.muls", {counted, number(period)}));
  return first ? bind(make("tile.adds", {counted, number(first)})) : counted;
}

ir::VarPtr Tiler::castTo(const ir::VarPtr &tile, pypto::DataType dtype) {
  return bind(make("tile.cast", {tile}, {{"target_type", dtype}, {"mode", std::string("rint")}}));
}

/// Indices as the instruction takes them; those of 16 bits are exact in FP32.
ir::VarPtr Tiler::wideIndices(const ir::VarPtr &index) {
  if (ir::ElementTypeOf(index->type_)->GetBit() >= 32)
    return index;
  return castTo(castTo(index, pypto::DataType::FP32), pypto::DataType::INT32);
}

ir::VarPtr Tiler::scattered(const ir::OpView &view, const ir::CallPtr &call) {
  auto pattern = view.Enum<ir::MaskPattern>("mask_pattern");
  if (!pattern && axisOf(view, place) + 1 != ir::ShapeOf(view.Operand("input")->type_)->size())
    fail(place, "tensor.scatter is lowered along the last axis, with dim=-1");
  int64_t rows, columns, indexRows, width, sourceRows, sourceWidth;
  ir::VarPtr made = matrix(view.Operand(pattern ? "dst" : "input"), rows, columns);
  ir::VarPtr source = matrix(view.Operand(pattern ? "input" : "src"), sourceRows, sourceWidth);
  ir::VarPtr index = pattern ? selected(*pattern, columns) : matrix(view.Operand("index"), indexRows, width);
  pypto::DataType dtype = *ir::ElementTypeOf(made->type_);
  if (dtype.GetBit() == 16) { // the instruction takes wide indices with wide elements only
    made = castTo(made, pypto::DataType::FP32), source = castTo(source, pypto::DataType::FP32);
  }
  index = wideIndices(index);
  if (pattern) {
    indexRows = rows, width = extentsOf(shapeOf(index), place).second;
    if (sourceRows != rows || sourceWidth != width)
      fail(place, "the pattern selects " + std::to_string(width) + " columns of " + std::to_string(rows) +
                      " rows, input has " + ir::ShapeText(shapeOf(source)));
  }
  if (indexRows > rows || indexRows > sourceRows || width != sourceWidth || indexRows > kMaxRuns)
    fail(place, "tensor.scatter takes as many indices as elements of src, up to " +
                    std::to_string(std::min(rows, kMaxRuns)) + " rows");
  ir::VarPtr base = made;
  for (int64_t row = 0; row < indexRows; ++row) {
    ir::VarPtr part = bind(make("tile.scatter", {rowOf(base, row, columns), rowOf(source, row, width),
                                                 pattern ? index : rowOf(index, row, width)}));
    made = bind(make("tile.assemble", {made, part, tuple({number(row), number(0)})}));
  }
  if (dtype.GetBit() == 16)
    made = castTo(made, dtype); // exact
  const auto &shape = *ir::ShapeOf(call->type_);
  return shape.size() == 2 ? made : reshaped(made, shape);
}

/// 1 where the comparison holds, else 0, in the type of the first operand.
ir::VarPtr Tiler::compared(const ir::OpView &view, const ir::CallPtr &call) {
  ir::VarPtr left = tile(view.Operand("lhs"));
  ir::ExprPtr right = view.Operand("rhs");
  if (ir::IsA<ir::TensorType>(right->type_))
    right = tile(right);
  std::string op = "tile." + std::string(view.row()->name.substr(7));
  ir::VarPtr mask = bind(make(op, {left, right}, call->kwargs_));
  auto filled = [&](int64_t value) {
    return bind(make("tile.full", {tuple(*ir::ShapeOf(left->type_))},
                     {{"dtype", *ir::ElementTypeOf(left->type_)}, {"value", value}}));
  };
  return bind(make("tile.sel", {mask, filled(1), filled(0)}));
}

} // namespace pto_mlir::pypto_frontend
