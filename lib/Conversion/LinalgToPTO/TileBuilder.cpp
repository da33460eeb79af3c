//===- TileBuilder.cpp - tile instructions for values of a linalg body ------------------------===//

#include "TileBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "pto_mlir/Dialect/PTO/IR/Tiles.h"

using namespace mlir;

namespace pto_mlir {

static pto::TileBufType typeOf(Value tile) { return cast<pto::TileBufType>(tile.getType()); }

Value TileBuilder::work(Value tile) {
  pto::TileBufType type = typeOf(tile);
  if (type.isRowMajor())
    return tile;
  // A column with dynamic extent is processed in full: its tail is never stored.
  int64_t valid = type.hasDynamicValidRows() ? type.getRows() : type.getValidRows();
  auto row = pto::makeVecTile(builder.getContext(), 1, type.getRows(), type.getElementType(), 1, valid);
  return builder.create<pto::TReshapeOp>(loc, row, tile);
}

Value TileBuilder::temporary(Role role, Type element) {
  auto validOf = [](const Extent &extent) { return extent.dynamic ? ShapedType::kDynamic : extent.bound; };
  pto::TileBufType type;
  Value validRow, validCol;
  if (role == Role::Column || (role == Role::Full && flat)) {
    const Extent &extent = role == Role::Column ? full.rows : full.cols;
    type = pto::makeVecColumnTile(builder.getContext(), tiles.pad(extent.bound), element, validOf(extent));
    validRow = extent.dynamic;
  } else {
    Extent rows = role == Role::Row || role == Role::Scalar ? Extent() : full.rows;
    Extent cols = role == Role::Scalar ? Extent() : full.cols;
    type = pto::makeVecTile(builder.getContext(), rows.bound, tiles.pad(cols.bound), element, validOf(rows),
                            validOf(cols));
    validRow = rows.dynamic;
    validCol = cols.dynamic;
  }
  for (auto &free : freeTiles) {
    auto alloc = free.getDefiningOp<pto::AllocTileOp>();
    if (free.getType() != type || alloc.getValidRow() != validRow || alloc.getValidCol() != validCol)
      continue;
    Value tile = free;
    freeTiles.erase(&free);
    owned.push_back(tile);
    return tile;
  }
  Value tile = builder.create<pto::AllocTileOp>(loc, type, validRow, validCol);
  owned.push_back(tile);
  return tile;
}

void TileBuilder::release(Value tile) {
  if (llvm::is_contained(owned, tile) && !llvm::is_contained(freeTiles, tile))
    freeTiles.push_back(tile);
}

Value TileBuilder::maskTile(Role role) {
  // One bit per element, in bytes; rows start at 32-byte blocks.
  bool isRow = role != Role::Full || flat;
  int64_t columns = role == Role::Column ? full.rows.bound : full.cols.bound;
  int64_t bytes = llvm::divideCeil(tiles.pad(columns), 8);
  auto type =
      pto::makeVecTile(builder.getContext(), isRow ? 1 : full.rows.bound, llvm::alignTo(bytes, 32), builder.getI8Type(),
                       isRow ? 1 : (full.rows.dynamic ? ShapedType::kDynamic : full.rows.bound), bytes);
  Value tile = builder.create<pto::AllocTileOp>(loc, type, isRow ? Value() : full.rows.dynamic, Value());
  return tile;
}

Value TileBuilder::scalar(Attribute constant) {
  if (auto value = dyn_cast<FloatAttr>(constant))
    return builder.create<arith::ConstantOp>(loc,
                                             builder.getF32FloatAttr(static_cast<float>(value.getValueAsDouble())));
  auto value = cast<IntegerAttr>(constant);
  return builder.create<arith::ConstantOp>(
      loc, builder.getI32IntegerAttr(static_cast<int32_t>(value.getValue().getSExtValue())));
}

Value TileBuilder::fillScalar(Attribute constant, Type element) {
  // texpands compares the types of scalar and tile.
  if (auto value = dyn_cast<FloatAttr>(constant); value && isa<FloatType>(element))
    return builder.create<arith::ConstantOp>(loc, builder.getFloatAttr(element, value.getValueAsDouble()));
  if (auto value = dyn_cast<IntegerAttr>(constant); value && isa<IntegerType>(element))
    return builder.create<arith::ConstantOp>(loc, builder.getIntegerAttr(element, value.getValue().getSExtValue()));
  return scalar(constant);
}

void TileBuilder::moveTo(const Item &item, Value destination, Role role) {
  Type element = typeOf(destination).getElementType();
  if (item.constant)
    builder.create<pto::TExpandSOp>(loc, fillScalar(item.constant, element), work(destination));
  else if (item.role == role)
    builder.create<pto::TMovOp>(loc, work(item.tile), work(destination));
  else if (element.isBF16())
    spreadThroughF32(item, destination, role);
  else if (item.role == Role::Row)
    builder.create<pto::TColExpandOp>(loc, item.tile, destination);
  else
    builder.create<pto::TRowExpandOp>(loc, item.tile, work(destination));
}

void TileBuilder::spreadThroughF32(const Item &item, Value destination, Role role) {
  Item wide{{}, temporary(item.role, builder.getF32Type()), item.role};
  Value spread = temporary(role, builder.getF32Type());
  builder.create<pto::TCvtOp>(loc, work(item.tile), work(wide.tile), pto::RoundMode::CAST_RINT);
  moveTo(wide, spread, role);
  builder.create<pto::TCvtOp>(loc, work(spread), work(destination), pto::RoundMode::CAST_RINT);
  release(wide.tile);
  release(spread);
}

Item TileBuilder::as(const Item &item, Role role, Type element) {
  if (!item.constant && item.role == role)
    return item;
  Item result;
  result.role = role;
  result.tile = temporary(role, element);
  moveTo(item, result.tile, role);
  return result;
}

void TileBuilder::tileTile(Binary kind, Value a, Value b, Value dst) {
  a = work(a), b = work(b), dst = work(dst);
  switch (kind) {
  case Binary::Add:
    builder.create<pto::TAddOp>(loc, a, b, dst);
    return;
  case Binary::Sub:
    builder.create<pto::TSubOp>(loc, a, b, dst);
    return;
  case Binary::Mul:
    builder.create<pto::TMulOp>(loc, a, b, dst);
    return;
  case Binary::Div:
    builder.create<pto::TDivOp>(loc, a, b, dst);
    return;
  case Binary::Max:
    builder.create<pto::TMaxOp>(loc, a, b, dst);
    return;
  case Binary::Min:
    builder.create<pto::TMinOp>(loc, a, b, dst);
    return;
  }
}

void TileBuilder::tileRow(Binary kind, Value a, Value row, Value dst) {
  switch (kind) {
  case Binary::Add:
    builder.create<pto::TColExpandAddOp>(loc, a, row, dst);
    return;
  case Binary::Sub:
    builder.create<pto::TColExpandSubOp>(loc, a, row, dst);
    return;
  case Binary::Mul:
    builder.create<pto::TColExpandMulOp>(loc, a, row, dst);
    return;
  case Binary::Div:
    builder.create<pto::TColExpandDivOp>(loc, a, row, dst);
    return;
  case Binary::Max:
    builder.create<pto::TColExpandMaxOp>(loc, a, row, dst);
    return;
  case Binary::Min:
    builder.create<pto::TColExpandMinOp>(loc, a, row, dst);
    return;
  }
}

void TileBuilder::tileColumn(Binary kind, Value a, Value column, Value dst) {
  switch (kind) {
  case Binary::Add:
    builder.create<pto::TRowExpandAddOp>(loc, a, column, dst);
    return;
  case Binary::Sub:
    builder.create<pto::TRowExpandSubOp>(loc, a, column, dst);
    return;
  case Binary::Mul:
    builder.create<pto::TRowExpandMulOp>(loc, a, column, dst);
    return;
  case Binary::Div:
    builder.create<pto::TRowExpandDivOp>(loc, a, column, dst);
    return;
  case Binary::Max:
    builder.create<pto::TRowExpandMaxOp>(loc, a, column, dst);
    return;
  case Binary::Min:
    builder.create<pto::TRowExpandMinOp>(loc, a, column, dst);
    return;
  }
}

LogicalResult TileBuilder::tileScalar(Operation *op, Binary kind, Value a, Attribute constant, Value dst) {
  auto number = dyn_cast<FloatAttr>(constant);
  a = work(a), dst = work(dst);
  switch (kind) {
  case Binary::Add:
    builder.create<pto::TAddSOp>(loc, a, scalar(constant), dst);
    break;
  case Binary::Sub:
    builder.create<pto::TSubSOp>(loc, a, scalar(constant), dst);
    break;
  case Binary::Mul:
    builder.create<pto::TMulSOp>(loc, a, scalar(constant), dst);
    break;
  case Binary::Min:
    builder.create<pto::TMinSOp>(loc, a, scalar(constant), dst);
    break;
  case Binary::Max:
    if (number && number.getValue().isPosZero())
      builder.create<pto::TReluOp>(loc, a, dst);
    else
      builder.create<pto::TMaxSOp>(loc, a, scalar(constant), dst);
    break;
  case Binary::Div: {
    // Division by a constant becomes a multiplication only if the reciprocal is exact (a power of two).
    APFloat inverse(0.0f);
    if (number && number.getValue().getExactInverse(&inverse))
      builder.create<pto::TMulSOp>(loc, a, scalar(FloatAttr::get(number.getType(), inverse)), dst);
    else
      builder.create<pto::TDivSOp>(loc, a, scalar(constant), dst);
    break;
  }
  }
  return success();
}

LogicalResult TileBuilder::scalarTile(Operation *op, Binary kind, Attribute constant, Value b, Value dst) {
  switch (kind) {
  case Binary::Sub: {
    // c - b = (-b) + c, without an additional rounding.
    Type element = typeOf(b).getElementType();
    TypedAttr minus =
        isa<FloatType>(element) ? TypedAttr(builder.getF32FloatAttr(-1.0f)) : TypedAttr(builder.getI32IntegerAttr(-1));
    builder.create<pto::TMulSOp>(loc, work(b), scalar(minus), work(dst));
    builder.create<pto::TAddSOp>(loc, work(dst), scalar(constant), work(dst));
    return success();
  }
  case Binary::Div:
    builder.create<pto::TDivSOp>(loc, scalar(constant), work(b), work(dst));
    return success();
  default:
    return tileScalar(op, kind, b, constant, dst);
  }
}

FailureOr<Item> TileBuilder::binary(Operation *op, Binary kind, Item a, Item b, Type element, Destination destination) {
  Item result;
  // Two constants remain after folding (the multiplication of an fma).
  if (a.constant && b.constant)
    a = as(a, Role::Full, element);
  if (a.constant || b.constant) {
    result.role = a.constant ? b.role : a.role;
    result.tile = destination(result.role);
    if (failed(b.constant ? tileScalar(op, kind, a.tile, b.constant, result.tile)
                          : scalarTile(op, kind, a.constant, b.tile, result.tile)))
      return failure();
    return result;
  }
  if (a.role == b.role) {
    result.role = a.role;
    result.tile = destination(result.role);
    tileTile(kind, a.tile, b.tile, result.tile);
    return result;
  }
  // Operands of different forms give a full tile.
  result.role = Role::Full;
  bool commutes = kind != Binary::Sub && kind != Binary::Div;
  if (b.role == Role::Full && commutes)
    std::swap(a, b);
  SmallVector<Value> spread;
  if (a.role != Role::Full) {
    // Neither form is supported as the left operand: broadcast it.
    a = as(a, Role::Full, element);
    spread.push_back(a.tile);
  }
  if (flat && b.role == Role::Column) {
    // A single number beside a vector, whose tail may be undefined: the broadcasting forms read all of it.
    b = as(b, Role::Full, element);
    spread.push_back(b.tile);
  }
  result.tile = destination(result.role);
  if (b.role == Role::Full)
    tileTile(kind, a.tile, b.tile, result.tile);
  else if (b.role == Role::Row)
    tileRow(kind, a.tile, b.tile, result.tile);
  else
    tileColumn(kind, a.tile, b.tile, result.tile);
  for (Value tile : spread)
    release(tile);
  return result;
}

} // namespace pto_mlir
