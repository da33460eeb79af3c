// Gathers, scatters and comparisons of tensors, which have more than one operation of tiles.
#include "TileNodes.h"
#include "Tiler.h"
#include "Types.h"

namespace pto_mlir::pypto_frontend {

namespace ir = pypto::ir;

namespace {

constexpr int64_t kMaxRows = 512; // each is a few operations of the kernel

/// Refuses what is not along the last axis of operands with the same rows.
void checkAxis(const ir::OpView &view, const ir::Span &place) {
  std::string name(view.row()->name);
  auto dim = view.Operand("dim") ? ir::ConstantInt(view.Operand("dim")) : std::nullopt;
  auto rank = int64_t(ir::ShapeOf(view.Operand("input")->type_)->size());
  if (!dim || (*dim != -1 && *dim != rank - 1))
    fail(place, name + " is lowered along the last axis, with dim=-1");
}

} // namespace

/// The operand as a tile of two axes, and its extents.
ir::VarPtr Tiler::matrix(const ir::ExprPtr &operand, int64_t &rows, int64_t &columns) {
  ir::VarPtr held = tile(operand);
  const auto &shape = *ir::ShapeOf(held->type_);
  std::tie(rows, columns) = extentsOf(shape, place);
  return shape.size() == 2 ? held : reshaped(held, {number(rows), number(columns)});
}

ir::VarPtr Tiler::rowOf(const ir::VarPtr &tile, int64_t row, int64_t columns) {
  return bind(make("tile.slice", {tile, tuple({number(1), number(columns)}), tuple({number(row), number(0)})}));
}

ir::VarPtr Tiler::gathered(const ir::OpView &view, const ir::CallPtr &call) {
  if (view.Operand("kvalue"))
    fail(place, "tensor.gather by kvalue is not lowered yet; use pl.tile.gather_compare");
  if (view.Keyword("mask_pattern"))
    return bind(make("tile.gather_mask", {tile(view.Operand("input"))}, call->kwargs_));
  checkAxis(view, place);
  int64_t rows, columns, indexRows, width;
  ir::VarPtr source = matrix(view.Operand("input"), rows, columns);
  ir::VarPtr index = matrix(view.Operand("index"), indexRows, width);
  if (indexRows > rows || indexRows > kMaxRows)
    fail(place, "tensor.gather takes up to " + std::to_string(std::min(rows, kMaxRows)) + " rows of indices, not " +
                    std::to_string(indexRows));
  ir::VarPtr made = bind(
      make("tile.create", {tuple({number(indexRows), number(width)})}, {{"dtype", *ir::ElementTypeOf(source->type_)}}));
  for (int64_t row = 0; row < indexRows; ++row) {
    ir::VarPtr part = bind(make("tile.gather", {rowOf(source, row, columns), rowOf(index, row, width)}));
    made = bind(make("tile.assemble", {made, part, tuple({number(row), number(0)})}));
  }
  const auto &shape = *ir::ShapeOf(call->type_);
  return shape.size() == 2 ? made : reshaped(made, shape);
}

ir::VarPtr Tiler::scattered(const ir::OpView &view, const ir::CallPtr &call) {
  if (view.Keyword("mask_pattern"))
    return bind(make("tile.scatter_mask", {tile(view.Operand("dst")), tile(view.Operand("input"))}, call->kwargs_));
  checkAxis(view, place);
  int64_t rows, columns, indexRows, width, sourceRows, sourceWidth;
  ir::VarPtr made = matrix(view.Operand("input"), rows, columns);
  ir::VarPtr index = matrix(view.Operand("index"), indexRows, width);
  ir::VarPtr source = matrix(view.Operand("src"), sourceRows, sourceWidth);
  if (indexRows > rows || indexRows > sourceRows || width != sourceWidth || indexRows > kMaxRows)
    fail(place, "tensor.scatter takes as many indices as elements of src, up to " +
                    std::to_string(std::min(rows, kMaxRows)) + " rows");
  ir::VarPtr base = made;
  for (int64_t row = 0; row < indexRows; ++row) {
    ir::VarPtr part =
        bind(make("tile.scatter", {rowOf(base, row, columns), rowOf(source, row, width), rowOf(index, row, width)}));
    made = bind(make("tile.assemble", {made, part, tuple({number(row), number(0)})}));
  }
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
