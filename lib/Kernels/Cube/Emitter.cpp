//===- Emitter.cpp - scalars, loops, tiles and views of a cube kernel -----===//

#include "Emitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace pto_mlir::cube {

namespace {

std::optional<int64_t> known(Ix x) { return getConstantIntValue(x); }

int64_t dimension(Ix x) {
  auto value = known(x);
  return value ? *value : ShapedType::kDynamic;
}

} // namespace

Emitter::Emitter(func::FuncOp func)
    : b(OpBuilder::atBlockEnd(&func.getBody().front())), loc(func.getLoc()), arch(pto::targetOf(func)), func(func) {}

template <typename Op> Ix Emitter::binary(Ix x, Ix y) { return b.create<Op>(loc, value(x), value(y)).getResult(); }

Ix Emitter::add(Ix x, Ix y) {
  auto cx = known(x), cy = known(y);
  if (cx && cy)
    return constant(*cx + *cy);
  if (cx && *cx == 0)
    return y;
  if (cy && *cy == 0)
    return x;
  return binary<arith::AddIOp>(x, y);
}

Ix Emitter::sub(Ix x, Ix y) {
  auto cx = known(x), cy = known(y);
  if (cx && cy)
    return constant(*cx - *cy);
  if (cy && *cy == 0)
    return x;
  return binary<arith::SubIOp>(x, y);
}

Ix Emitter::mul(Ix x, int64_t y) {
  if (auto cx = known(x))
    return constant(*cx * y);
  if (y == 0)
    return constant(0);
  return y == 1 ? x : binary<arith::MulIOp>(x, constant(y));
}

Ix Emitter::mul(Ix x, Ix y) {
  if (auto cy = known(y))
    return mul(x, *cy);
  return known(x) ? mul(y, *known(x)) : binary<arith::MulIOp>(x, y);
}

Ix Emitter::div(Ix x, int64_t y) {
  if (auto cx = known(x))
    return constant(*cx / y);
  return y == 1 ? x : binary<arith::FloorDivSIOp>(x, constant(y));
}

Ix Emitter::rem(Ix x, int64_t y) {
  if (auto cx = known(x))
    return constant(*cx % y);
  return y == 1 ? constant(0) : binary<arith::RemSIOp>(x, constant(y));
}

Ix Emitter::div(Ix x, Ix y) {
  auto cy = known(y);
  return cy ? div(x, *cy) : binary<arith::FloorDivSIOp>(x, y);
}

Ix Emitter::rem(Ix x, Ix y) {
  auto cy = known(y);
  return cy ? rem(x, *cy) : binary<arith::RemSIOp>(x, y);
}

Ix Emitter::min(Ix x, Ix y) {
  auto cx = known(x), cy = known(y);
  if (cx && cy)
    return constant(std::min(*cx, *cy));
  return binary<arith::MinSIOp>(x, y);
}

Ix Emitter::max(Ix x, Ix y) {
  auto cx = known(x), cy = known(y);
  if (cx && cy)
    return constant(std::max(*cx, *cy));
  return binary<arith::MaxSIOp>(x, y);
}

Ix Emitter::extent(Ix start, int64_t block, int64_t total) {
  if (total % block == 0)
    return constant(block);
  return min(constant(block), sub(constant(total), start));
}

Ix Emitter::extent(Ix start, int64_t block, Ix total) {
  if (auto number = known(total))
    return extent(start, block, *number);
  return min(constant(block), sub(total, start));
}

Ix Emitter::extent(Ix start, Ix block, Ix total) {
  if (auto number = known(block))
    return extent(start, *number, total);
  return min(block, sub(total, start));
}

Ix Emitter::ifAtMost(Ix x, int64_t most, Ix then, Ix otherwise) {
  if (then == otherwise)
    return then;
  Value isFew = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::sle, value(x), value(constant(most)));
  return b.create<arith::SelectOp>(loc, isFew, value(then), value(otherwise)).getResult();
}

Ix Emitter::kernelSize(unsigned number) {
  auto greatest = func->getAttrOfType<DenseI64ArrayAttr>(pto::kGreatestSizesAttr);
  return b.create<pto::KernelSizeOp>(loc, b.getIndexType(), number, greatest[number]).getResult();
}

Ix Emitter::size(AffineExpr expr) {
  if (auto fixed = dyn_cast<AffineConstantExpr>(expr))
    return constant(fixed.getValue());
  if (Value made = sizes.lookup(expr))
    return made;
  OpBuilder::InsertionGuard guard(b);
  if (lastSize)
    b.setInsertionPointAfter(lastSize);
  else
    b.setInsertionPointToStart(&func.getBody().front());
  Ix made;
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr)) {
    made = kernelSize(symbol.getPosition());
  } else {
    auto product = cast<AffineBinaryOpExpr>(expr);
    Ix left = size(product.getLHS()), right = size(product.getRHS());
    b.setInsertionPointAfter(lastSize);
    made = mul(left, right);
  }
  Value result = cast<Value>(made);
  lastSize = result.getDefiningOp();
  sizes[expr] = result;
  return made;
}

Value Emitter::value(Ix x) {
  if (auto given = dyn_cast<Value>(x))
    return given;
  int64_t number = *known(x);
  Value &made = constants[number];
  if (!made) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&func.getBody().front());
    made = b.create<arith::ConstantIndexOp>(loc, number);
  }
  return made;
}

void Emitter::loop(Ix bound, int64_t step, Body body) {
  if (auto count = known(bound); count && *count <= step) {
    if (*count > 0)
      body(constant(0));
    return;
  }
  auto loop = b.create<scf::ForOp>(loc, value(constant(0)), value(bound), value(constant(step)));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  body(loop.getInductionVar());
}

void Emitter::loop(Ix first, Ix end, Body body) {
  auto loop = b.create<scf::ForOp>(loc, value(first), value(end), value(constant(1)));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  body(loop.getInductionVar());
}

void Emitter::spread(int64_t count, Body body) {
  if (cores == 1)
    return loop(constant(count), 1, body);
  auto query = [&](Value number) -> Value { return b.create<arith::IndexCastOp>(loc, b.getIndexType(), number); };
  Value block = query(b.create<pto::GetBlockIdxOp>(loc));
  Value blocks = query(b.create<pto::GetBlockNumOp>(loc));
  auto loop = b.create<scf::ForOp>(loc, block, value(constant(count)), blocks);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  body(count == 1 ? constant(0) : Ix(loop.getInductionVar()));
}

void Emitter::ifZero(Ix x, llvm::function_ref<void()> then, llvm::function_ref<void()> otherwise) {
  if (auto number = known(x))
    return *number == 0 ? then() : otherwise();
  Value zero = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, value(x), value(constant(0)));
  auto branch = b.create<scf::IfOp>(loc, zero, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  then();
  b.setInsertionPointToStart(branch.elseBlock());
  otherwise();
}

Value Emitter::valid(Value tile, Ix rows, Ix columns) {
  auto type = cast<pto::TileBufType>(tile.getType());
  pto::TileBufType wanted = type.withValid(dimension(rows), dimension(columns));
  if (wanted == type && type.hasStaticValid())
    return tile;
  Value zero = value(constant(0));
  return b.create<pto::SubViewOp>(loc, wanted, tile, ValueRange{zero, zero}, value(rows), value(columns),
                                  b.getI64ArrayAttr({type.getRows(), type.getCols()}));
}

Value Emitter::tile(pto::TileBufType type, Ix validRows, Ix validCols) {
  int64_t rows = dimension(validRows), cols = dimension(validCols);
  return b.create<pto::AllocTileOp>(loc, type.withValid(rows, cols),
                                    ShapedType::isDynamic(rows) ? value(validRows) : Value(),
                                    ShapedType::isDynamic(cols) ? value(validCols) : Value());
}

Value Emitter::makeView(const Matrix &matrix, ArrayRef<int64_t> sizes, ArrayRef<int64_t> strides) {
  int64_t kind = matrix.transposed ? 1 : static_cast<int64_t>(sizes.size());
  Value &view = views[{matrix.arg, matrix.cols * 8 + kind}];
  if (view)
    return view;
  SmallVector<Value> sizeValues, strideValues;
  for (int64_t size : sizes)
    sizeValues.push_back(value(constant(size)));
  for (int64_t stride : strides)
    strideValues.push_back(value(constant(stride)));
  // After the constants and before the first loop: made once.
  OpBuilder::InsertionGuard guard(b);
  Block &entry = func.getBody().front();
  Operation *first = nullptr;
  for (Operation &op : entry)
    if (!isa<arith::ConstantOp, pto::MakeTensorViewOp>(op)) {
      first = &op;
      break;
    }
  if (first)
    b.setInsertionPoint(first);
  else
    b.setInsertionPointToEnd(&entry);
  auto layout = matrix.transposed ? pto::LayoutAttr::get(context(), pto::Layout::dn) : pto::LayoutAttr();
  view = b.create<pto::MakeTensorViewOp>(loc, pto::TensorViewType::get(sizes, matrix.element),
                                         func.getArgument(matrix.arg), sizeValues, strideValues, layout);
  return view;
}

Value Emitter::partition(Value view, ArrayRef<Ix> offsets, ArrayRef<Ix> sizes) {
  SmallVector<Value> offsetValues, sizeValues;
  SmallVector<int64_t> shape;
  for (Ix offset : offsets)
    offsetValues.push_back(value(offset));
  for (Ix size : sizes) {
    sizeValues.push_back(value(size));
    shape.push_back(dimension(size));
  }
  auto element = cast<pto::TensorViewType>(view.getType()).getElementType();
  return b.create<pto::PartitionViewOp>(loc, pto::PartitionTensorViewType::get(shape, element), view, offsetValues,
                                        sizeValues);
}

Ix Emitter::rowOf(const Matrix &m, Ix outer) {
  Ix outerRows = m.outerRowsSize ? size(m.outerRowsSize) : constant(m.outerRows);
  Ix innerRows = m.innerRowsSize ? size(m.innerRowsSize) : constant(m.innerRows);
  Ix row = add(mul(div(outer, m.inner), outerRows), mul(rem(outer, m.inner), innerRows));
  return add(row, constant(m.firstRow));
}

Ix Emitter::colOf(const Matrix &m, Ix outer) {
  Ix outerCols = m.outerColsSize ? size(m.outerColsSize) : constant(m.outerCols);
  Ix col = add(mul(div(outer, m.inner), outerCols), mul(rem(outer, m.inner), m.innerCols));
  return add(col, constant(m.firstCol));
}

Value Emitter::part(const Matrix &matrix, Ix row, Ix col, Ix rows, Ix cols) {
  Value view = matrix.transposed ? makeView(matrix, {matrix.cols, matrix.rows}, {1, matrix.cols})
                                 : makeView(matrix, {matrix.rows, matrix.cols}, {matrix.cols, 1});
  return partition(view, {row, col}, {rows, cols});
}

Value Emitter::pixels(const Matrix &matrix, int64_t width, Ix row, Ix x, Ix col, Ix rows, int64_t cols, Ix channels) {
  Value view = makeView(matrix, {matrix.rows / width, width, matrix.cols}, {width * matrix.cols, matrix.cols, 1});
  return partition(view, {row, x, col}, {rows, constant(cols), channels});
}

Value Emitter::patches(const Matrix &matrix, int64_t rowCount, const ConvPatches &patches, Ix row, Ix strip, Ix column,
                       Ix start, Ix height, Ix width, Ix extent) {
  Value view = makeView(matrix, {rowCount, patches.strips, patches.width, patches.strip},
                        {patches.rowPitch, patches.stripPitch, patches.pitch, 1});
  return partition(view, {row, strip, column, start}, {height, constant(1), width, extent});
}

Value Emitter::box(const Matrix &matrix, Ix offset, ArrayRef<Ix> sizes, ArrayRef<int64_t> strides) {
  return box(matrix, offset, sizes, getAsIndexOpFoldResult(context(), strides));
}

Value Emitter::box(const Matrix &matrix, Ix offset, ArrayRef<Ix> sizes, ArrayRef<Ix> strides) {
  Value pointer = func.getArgument(matrix.arg);
  pointer = b.create<pto::AddPtrOp>(loc, pointer.getType(), pointer, value(offset));
  SmallVector<Value> sizeValues, strideValues;
  SmallVector<int64_t> shape;
  for (Ix size : sizes) {
    sizeValues.push_back(value(size));
    shape.push_back(dimension(size));
  }
  for (Ix stride : strides)
    strideValues.push_back(value(stride));
  Value view = b.create<pto::MakeTensorViewOp>(loc, pto::TensorViewType::get(shape, matrix.element), pointer,
                                               sizeValues, strideValues, pto::LayoutAttr());
  return partition(view, SmallVector<Ix>(sizes.size(), constant(0)), sizes);
}

void Emitter::load(Value view, Value tile) { b.create<pto::TLoadOp>(loc, view, tile); }

} // namespace pto_mlir::cube
