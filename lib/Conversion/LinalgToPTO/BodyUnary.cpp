//===- BodyUnary.cpp - ops of a linalg body with one operand that is no constant ---===//

#include "BodyEmitter.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace pto_mlir {

/// Between i8 and f32 by way of f16, which holds all integers of 8 bits.
void BodyEmitter::convert(Operation *inner, const Item &from, const Item &to, pto::RoundMode rounding) {
  Type source = inner->getOperand(0).getType(), target = inner->getResult(0).getType();
  bool half = (source.isInteger(8) && target.isF32()) || (source.isF32() && target.isInteger(8));
  if (!half) {
    builder.create<pto::TCvtOp>(loc, tile->work(from.tile), tile->work(to.tile), rounding);
    return;
  }
  Value between = tile->temporary(from.role, builder.getF16Type());
  builder.create<pto::TCvtOp>(loc, tile->work(from.tile), tile->work(between), rounding);
  builder.create<pto::TCvtOp>(loc, tile->work(between), tile->work(to.tile), rounding);
  tile->release(between);
}

LogicalResult BodyEmitter::emitUnary(Operation *inner) {
  FailureOr<Item> source = itemOf(inner, inner->getOperand(0));
  if (failed(source))
    return failure();
  if (source->constant)
    *source = tile->as(*source, Role::Full, inner->getOperand(0).getType());
  Item result;
  result.role = source->role;
  Value from = tile->work(source->tile);
  result.tile = destination(inner, result.role);
  Value to = tile->work(result.tile);
  bool known = llvm::TypeSwitch<Operation *, bool>(inner)
                   .Case<math::ExpOp>([&](auto) {
                     builder.create<pto::TExpOp>(loc, from, to);
                     return true;
                   })
                   .Case<math::LogOp>([&](auto) {
                     builder.create<pto::TLogOp>(loc, from, to);
                     return true;
                   })
                   .Case<math::SqrtOp>([&](auto) {
                     builder.create<pto::TSqrtOp>(loc, from, to);
                     return true;
                   })
                   .Case<math::RsqrtOp>([&](auto) {
                     builder.create<pto::TRsqrtOp>(loc, from, to);
                     return true;
                   })
                   .Case<math::AbsFOp>([&](auto) {
                     builder.create<pto::TAbsOp>(loc, from, to);
                     return true;
                   })
                   .Case<arith::NegFOp>([&](auto) {
                     builder.create<pto::TNegOp>(loc, from, to);
                     return true;
                   })
                   .Case<arith::ExtFOp, arith::TruncFOp, arith::SIToFPOp, math::RoundEvenOp>([&](auto) {
                     convert(inner, *source, result, pto::RoundMode::CAST_RINT);
                     return true;
                   })
                   .Case<arith::FPToSIOp>([&](auto) {
                     convert(inner, *source, result, pto::RoundMode::TRUNC);
                     return true;
                   })
                   .Default([](Operation *) { return false; });
  if (!known)
    return inner->emitOpError("has no tile instruction");
  items[inner->getResult(0)] = result;
  return success();
}

/// By a constant. The engines shift signed integers arithmetically to the right.
LogicalResult BodyEmitter::emitShift(Operation *inner) {
  FailureOr<Item> source = itemOf(inner, inner->getOperand(0)), count = itemOf(inner, inner->getOperand(1));
  if (failed(source) || failed(count))
    return failure();
  if (source->constant || !count->constant)
    return inner->emitOpError("shifts by something else than a constant");
  Item result{{}, destination(inner, source->role), source->role};
  Value from = tile->work(source->tile), to = tile->work(result.tile), bits = tile->scalar(count->constant);
  if (isa<arith::ShLIOp>(inner))
    builder.create<pto::TShlSOp>(loc, from, bits, to);
  else
    builder.create<pto::TShrSOp>(loc, from, bits, to);
  items[inner->getResult(0)] = result;
  return success();
}

/// A tile of 32 bits as one of 16: a3 combines bits of no wider integers, and bits do not see their integers.
static Value asHalves(OpBuilder &b, Location loc, Value tile) {
  auto type = cast<pto::TileBufType>(tile.getType());
  if (!type.getElementType().isInteger(32))
    return tile;
  // A dynamic extent is processed in full, as the tail of a column (TileBuilder::work).
  int64_t rows = type.hasDynamicValidRows() ? type.getRows() : type.getValidRows();
  int64_t cols = type.hasDynamicValidCols() ? type.getCols() : type.getValidCols();
  auto halves = pto::makeVecTile(b.getContext(), type.getRows(), 2 * type.getCols(), b.getI16Type(), rows, 2 * cols);
  return b.create<pto::TReshapeOp>(loc, halves, tile);
}

/// And, or, exclusive or of integers. They have no broadcasting forms.
LogicalResult BodyEmitter::emitBits(Operation *inner) {
  FailureOr<Item> a = itemOf(inner, inner->getOperand(0)), b = itemOf(inner, inner->getOperand(1));
  if (failed(a) || failed(b))
    return failure();
  Type element = inner->getResult(0).getType();
  Role role = a->constant ? b->role : b->constant || a->role == b->role ? a->role : Role::Full;
  Item sides[] = {tile->as(*a, role, element), tile->as(*b, role, element)};
  Item result{{}, destination(inner, role), role};
  auto halves = [&](Value whole) { return asHalves(builder, loc, tile->work(whole)); };
  Value left = halves(sides[0].tile), right = halves(sides[1].tile), to = halves(result.tile);
  if (isa<arith::AndIOp>(inner)) {
    builder.create<pto::TAndOp>(loc, left, right, to);
  } else if (isa<arith::OrIOp>(inner)) {
    builder.create<pto::TOrOp>(loc, left, right, to);
  } else {
    Value scratch = tile->temporary(role, element);
    builder.create<pto::TXorOp>(loc, left, right, halves(scratch), to);
    tile->release(scratch);
  }
  for (auto [side, item] : {std::pair(sides[0], *a), std::pair(sides[1], *b)})
    if (side.tile != item.tile)
      tile->release(side.tile);
  items[inner->getResult(0)] = result;
  return success();
}

/// The same tile under another type.
LogicalResult BodyEmitter::emitBitcast(arith::BitcastOp bits) {
  FailureOr<Item> item = itemOf(bits, bits.getIn());
  if (failed(item))
    return failure();
  if (item->constant)
    return bits.emitOpError("casts a constant; canonicalization folds it");
  auto type = cast<pto::TileBufType>(item->tile.getType());
  item->tile = builder.create<pto::BitcastOp>(loc, type.withElementType(bits.getType()), item->tile);
  items[bits.getResult()] = *item;
  return success();
}

} // namespace pto_mlir
