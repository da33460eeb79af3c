// Gathers across rows, and tensors that are repeated: row by row, or run by run, of a matrix.
#include "TileNodes.h"
#include "Tiler.h"
#include "Types.h"

namespace pto_mlir::pypto_frontend {

namespace ir = pypto::ir;

namespace {

std::vector<int64_t> constantsOf(const std::vector<ir::ExprPtr> &shape, const ir::Span &place) {
  std::vector<int64_t> extents;
  for (const ir::ExprPtr &extent : shape) {
    auto known = ir::ConstantInt(extent);
    if (!known)
      fail(place, "extents that are known at run time are not lowered yet here");
    extents.push_back(*known);
  }
  return extents;
}

/// The place of row `row` of the first axes of `shape`, where each axis has its stride.
int64_t placeOf(int64_t row, const std::vector<int64_t> &shape, const std::vector<int64_t> &strides) {
  int64_t found = 0;
  for (size_t axis = shape.size() - 1; axis-- > 0;) {
    found += row % shape[axis] * strides[axis];
    row /= shape[axis];
  }
  return found;
}

} // namespace

/// Elements at index along an axis that is not the last: flat places in the whole tile.
ir::VarPtr Tiler::gatheredAcross(const ir::OpView &view, size_t axis) {
  std::vector<int64_t> shape = constantsOf(*ir::ShapeOf(view.Operand("input")->type_), place);
  std::vector<int64_t> taken = constantsOf(*ir::ShapeOf(view.Operand("index")->type_), place);
  if (shape.size() != taken.size())
    fail(place, "tensor.gather takes an index of as many axes as its input");
  int64_t rows, columns, indexRows, width;
  ir::VarPtr source = matrix(view.Operand("input"), rows, columns);
  ir::VarPtr index = wideIndices(matrix(view.Operand("index"), indexRows, width));
  for (size_t other = 0; other < shape.size(); ++other)
    if (other != axis && taken[other] > shape[other])
      fail(place, "tensor.gather takes an index no greater than its input, but along dim");
  if (indexRows > kMaxRuns)
    fail(place, "tensor.gather takes up to " + std::to_string(kMaxRuns) + " rows of indices, not " +
                    std::to_string(indexRows));
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t i = shape.size() - 1; i-- > 0;)
    strides[i] = strides[i + 1] * shape[i + 1];
  int64_t stride = std::exchange(strides[axis], 0); // its place is the index's
  source = reshaped(source, {number(1), number(rows * columns)});
  index = bind(make("tile.muls", {index, number(stride)}));
  ir::VarPtr counted =
      bind(make("tile.ci", {number(0), tuple({number(1), number(width)})}, {{"dtype", pypto::DataType::INT32}}));
  ir::VarPtr made = emptyMatrix(indexRows, width, *ir::ElementTypeOf(source->type_));
  for (int64_t row = 0; row < indexRows; ++row) {
    ir::VarPtr flat = bind(make("tile.add", {rowOf(index, row, width), counted}));
    flat = bind(make("tile.adds", {flat, number(placeOf(row, taken, strides))}));
    ir::VarPtr part = bind(make("tile.gather", {source, flat}));
    made = bind(make("tile.assemble", {made, part, tuple({number(row), number(0)})}));
  }
  return taken.size() == 2 ? made : reshaped(made, *ir::ShapeOf(view.Operand("index")->type_));
}

/// A matrix of `width` columns that are all the last axis of a tensor, which has one element. Columns of more than two
/// axes are loaded one for each place of the axes before the last two.
ir::VarPtr Tiler::widened(const ir::ExprPtr &column, int64_t width) {
  std::vector<int64_t> shape = constantsOf(*ir::ShapeOf(column->type_), place);
  pypto::DataType dtype = *ir::ElementTypeOf(column->type_);
  if (shape.size() == 2)
    return bind(make("tile.row_expand", {emptyMatrix(shape[0], width, dtype), tile(column)}));
  auto window = windowOf(column);
  if (shape.size() < 2 || !window || window->extents.size() != shape.size())
    fail(place, "a column of more than two axes is repeated from global memory; store it first");
  int64_t rows = shape[shape.size() - 2], count = 1;
  for (size_t axis = 0; axis + 2 < shape.size(); ++axis)
    count *= shape[axis];
  if (count > kMaxRuns)
    fail(place, "tensor.expand_clone takes up to " + std::to_string(kMaxRuns) + " columns");
  ir::VarPtr made = emptyMatrix(count * rows, width, dtype);
  for (int64_t at = 0; at < count; ++at) {
    Window part = *window;
    for (int64_t axis = int64_t(shape.size()) - 3, rest = at; axis >= 0; rest /= shape[axis], --axis) {
      part.offsets[axis] = sum(part.offsets[axis], rest % shape[axis]);
      part.extents[axis] = number(1);
    }
    ir::TypePtr type = make("tile.create", {tuple({number(rows), number(1)})}, {{"dtype", dtype}})->type_;
    auto loaded = std::make_shared<const ir::Var>(name, type, place);
    ir::CallPtr load = make("tile.load", {part.tensor, tuple(part.offsets), tuple(part.extents)});
    out->push_back(std::make_shared<const ir::AssignStmt>(loaded, load, place));
    ir::VarPtr wide = bind(make("tile.row_expand", {emptyMatrix(rows, width, dtype), loaded}));
    made = bind(make("tile.assemble", {made, wide, tuple({number(at * rows), number(0)})}));
  }
  return made;
}

/// A tensor repeated along the axes where it has one element and the target more.
ir::VarPtr Tiler::expanded(const ir::OpView &view) {
  const std::vector<ir::ExprPtr> &wanted = *ir::ShapeOf(view.Operand("target")->type_);
  std::vector<int64_t> from = constantsOf(*ir::ShapeOf(view.Operand("src")->type_), place);
  std::vector<int64_t> to = constantsOf(wanted, place), strides(to.size(), 0);
  if (from.size() != to.size() || to.empty())
    fail(place, "tensor.expand_clone takes tensors of as many axes");
  int64_t sourceRows = 1, rows = 1, width = to.back();
  for (int64_t stride = 1, axis = int64_t(to.size()) - 1; axis >= 0; --axis) {
    if (from[axis] != to[axis] && from[axis] != 1)
      fail(place, "tensor.expand_clone repeats axes of one element, not " + std::to_string(from[axis]) + " as " +
                      std::to_string(to[axis]));
    if (axis == int64_t(to.size()) - 1)
      continue;
    strides[axis] = from[axis] == 1 ? 0 : stride;
    stride *= from[axis], rows *= to[axis];
  }
  ir::VarPtr source =
      from.back() == width ? matrix(view.Operand("src"), sourceRows, width) : widened(view.Operand("src"), width);
  sourceRows = extentsOf(shapeOf(source), place).first;
  pypto::DataType dtype = *ir::ElementTypeOf(source->type_);
  ir::VarPtr made = rows == sourceRows ? source : emptyMatrix(rows, width, dtype);
  int64_t runs = 0;
  for (int64_t row = 0, count; row < rows && rows != sourceRows; row += count) {
    if (++runs > kMaxRuns)
      fail(place, "tensor.expand_clone takes up to " + std::to_string(kMaxRuns) + " runs of rows");
    int64_t first = placeOf(row, to, strides), same = 1, next = 1;
    while (row + same < rows && placeOf(row + same, to, strides) == first)
      ++same;
    while (row + next < rows && placeOf(row + next, to, strides) == first + next)
      ++next;
    count = std::max(same, next);
    ir::VarPtr part = rowOf(source, first, width, next);
    if (same > 1)
      part = bind(make("tile.col_expand", {emptyMatrix(same, width, dtype), part}));
    made = bind(make("tile.assemble", {made, part, tuple({number(row), number(0)})}));
  }
  return to.size() == 2 ? made : reshaped(made, wanted);
}

} // namespace pto_mlir::pypto_frontend
