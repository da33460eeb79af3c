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
