// Exchanges two axes of a tile, which holds its last axis as columns and all others as rows.
#include "Lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace pto_mlir::pypto_frontend {

namespace {

class AxisExchange {
public:
  AxisExchange(OpBuilder &b, Location loc) : b(b), loc(loc) {}

  /// The two last axes, matrix by matrix.
  void inner(Value from, Value to, ArrayRef<int64_t> extents, Value scratch) {
    int64_t rows = extents[extents.size() - 2], columns = extents.back();
    for (int64_t i = 0, batches = ShapedType::getNumElements(extents.drop_back(2)); i < batches; ++i)
      b.create<pto::TTransOp>(loc, rowsOf(from, i * rows, rows), scratch, rowsOf(to, i * columns, columns));
  }

  /// Two axes in front of the last one: what is behind them is moved as a whole.
  void outer(Value from, Value to, ArrayRef<int64_t> extents, int64_t left, int64_t right) {
    int64_t outer = ShapedType::getNumElements(extents.take_front(left)), first = extents[left],
            second = extents[right];
    int64_t middle = ShapedType::getNumElements(extents.slice(left + 1, right - left - 1));
    int64_t rows = ShapedType::getNumElements(extents.slice(right + 1).drop_back());
    for (int64_t block = 0; block < outer * first * middle * second; ++block) {
      int64_t j = block % second, m = block / second % middle, i = block / second / middle % first;
      int64_t target = ((block / second / middle / first * second + j) * middle + m) * first + i;
      b.create<pto::TMovOp>(loc, rowsOf(from, block * rows, rows), rowsOf(to, target * rows, rows));
    }
  }

private:
  Value rowsOf(Value tile, int64_t row, int64_t rows) {
    auto type = cast<pto::TileBufType>(tile.getType());
    if (rows == type.getRows())
      return tile;
    auto index = [&](int64_t value) { return b.create<arith::ConstantIndexOp>(loc, value); };
    return b.create<pto::SubViewOp>(loc, type.withShape(rows, type.getCols()).withValid(rows, type.getCols()), tile,
                                    ValueRange{index(row), index(0)}, Value(), Value(),
                                    b.getI64ArrayAttr({rows, type.getCols()}));
  }

  OpBuilder &b;
  Location loc;
};

} // namespace

/// An outer axis and the last one are exchanged in three steps through the last but one.
Value Lowering::transpose(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &var) {
  Value source = valueOf(call.Operand("x"));
  auto type = cast<pto::TileBufType>(source.getType());
  SmallVector<int64_t> extents;
  for (const ir::ExprPtr &extent : *ir::ShapeOf(call.Operand("x")->type_))
    extents.push_back(ir::ConstantInt(extent).value_or(0));
  int64_t rank = extents.size();
  auto axis = [&](const char *name) {
    int64_t given = ir::ConstantInt(call.Operand(name)).value_or(rank);
    return given < 0 ? given + rank : given;
  };
  auto [left, right] = std::minmax({axis("axis1"), axis("axis2")});
  if (left < 0 || left == right || right >= rank || type.getLoc() != pto::AddressSpace::vec)
    fail(op->span_, "transpose is lowered for two axes of a tile in Vec");
  if (rank > 2 && (type.getValidRows() != type.getRows() || type.getValidCols() != type.getCols()))
    fail(op->span_, "transpose of a tile of more than two axes is lowered where all of it is valid");
  Value given = call.Operand("tmp_tile") ? valueOf(call.Operand("tmp_tile")) : Value();
  Value tile = destination(*op, var);
  AxisExchange exchange(b, loc);
  if (rank == 2) {
    b.create<pto::TTransOp>(loc, source, given ? given : scratch(type), tile);
    return tile;
  }
  if (right < rank - 1) {
    exchange.outer(source, tile, extents, left, right);
    return tile;
  }
  auto shaped = [&](int64_t rows, int64_t columns) { return type.withShape(rows, columns).withValid(rows, columns); };
  bool isNear = left == rank - 2;
  Value from = source, to = tile;
  if (!isNear) {
    from = scratch(type);
    exchange.outer(source, from, extents, left, rank - 2);
    std::swap(extents[left], extents[rank - 2]);
    to = scratch(shaped(ShapedType::getNumElements(extents) / extents[rank - 2], extents[rank - 2]));
  }
  exchange.inner(from, to, extents, given ? given : scratch(shaped(extents[rank - 2], extents[rank - 1])));
  std::swap(extents[rank - 1], extents[rank - 2]);
  if (!isNear)
    exchange.outer(to, tile, extents, left, rank - 2);
  return tile;
}

} // namespace pto_mlir::pypto_frontend
