//===- BodyMasks.cpp - comparisons, logic and selects of a linalg body ---------------===//

#include "BodyEmitter.h"

using namespace mlir;

namespace pto_mlir {

std::optional<pto::CmpMode> BodyEmitter::compareMode(Operation *op) {
  if (auto cmp = dyn_cast<arith::CmpFOp>(op)) {
    using P = arith::CmpFPredicate;
    switch (cmp.getPredicate()) {
    case P::OEQ:
    case P::UEQ:
      return pto::CmpMode::eq;
    case P::ONE:
    case P::UNE:
      return pto::CmpMode::ne;
    case P::OLT:
    case P::ULT:
      return pto::CmpMode::lt;
    case P::OLE:
    case P::ULE:
      return pto::CmpMode::le;
    case P::OGT:
    case P::UGT:
      return pto::CmpMode::gt;
    case P::OGE:
    case P::UGE:
      return pto::CmpMode::ge;
    default:
      return std::nullopt;
    }
  }
  if (auto cmp = dyn_cast<arith::CmpIOp>(op)) {
    using P = arith::CmpIPredicate;
    switch (cmp.getPredicate()) {
    case P::eq:
      return pto::CmpMode::eq;
    case P::ne:
      return pto::CmpMode::ne;
    case P::slt:
      return pto::CmpMode::lt;
    case P::sle:
      return pto::CmpMode::le;
    case P::sgt:
      return pto::CmpMode::gt;
    case P::sge:
      return pto::CmpMode::ge;
    default:
      return std::nullopt;
    }
  }
  return std::nullopt;
}

/// The comparison with swapped operands.
static pto::CmpMode mirrored(pto::CmpMode mode) {
  switch (mode) {
  case pto::CmpMode::lt:
    return pto::CmpMode::gt;
  case pto::CmpMode::le:
    return pto::CmpMode::ge;
  case pto::CmpMode::gt:
    return pto::CmpMode::lt;
  case pto::CmpMode::ge:
    return pto::CmpMode::le;
  default:
    return mode;
  }
}

LogicalResult BodyEmitter::emitCompare(Operation *inner, pto::CmpMode mode) {
  FailureOr<Item> a = itemOf(inner, inner->getOperand(0)), b = itemOf(inner, inner->getOperand(1));
  if (failed(a) || failed(b))
    return failure();
  if (a->constant && b->constant)
    *a = tile->as(*a, Role::Full, inner->getOperand(0).getType());
  if (a->constant) {
    std::swap(*a, *b);
    mode = mirrored(mode);
  }
  Item mask;
  mask.isMask = true;
  mask.role = a->role;
  if (!b->constant && b->role != a->role) {
    mask.role = Role::Full;
    Type element = inner->getOperand(0).getType();
    *a = tile->as(*a, Role::Full, element);
    *b = tile->as(*b, Role::Full, element);
  }
  mask.tile = tile->maskTile(mask.role);
  auto modeAttr = pto::CmpModeAttr::get(builder.getContext(), mode);
  if (b->constant)
    builder.create<pto::TCmpSOp>(loc, tile->work(a->tile), tile->scalar(b->constant), mask.tile, modeAttr);
  else
    builder.create<pto::TCmpOp>(loc, tile->work(a->tile), tile->work(b->tile), mask.tile, modeAttr);
  items[inner->getResult(0)] = mask;
  return success();
}

/// Converts a mask to numbers: 1 where set, 0 elsewhere.
Item BodyEmitter::numbers(const Item &mask, Type element, std::optional<Value> destination) {
  Item one, zero, result;
  one.constant = builder.getOneAttr(element);
  zero.constant = builder.getZeroAttr(element);
  one = tile->as(one, mask.role, element);
  zero = tile->as(zero, mask.role, element);
  Value scratch = tile->temporary(mask.role, element);
  result.role = mask.role;
  result.tile = destination ? *destination : tile->temporary(mask.role, element);
  builder.create<pto::TSelOp>(loc, mask.tile, tile->work(one.tile), tile->work(zero.tile), tile->work(scratch),
                              tile->work(result.tile));
  for (Value used : {scratch, one.tile, zero.tile})
    tile->release(used);
  return result;
}

/// The mask in another form or negated, by comparing numbers with 0: mask bits cannot be broadcast, and the vector
/// engine has no bytewise not.
Item BodyEmitter::remask(const Item &mask, Role role, pto::CmpMode mode) {
  Type f32 = builder.getF32Type();
  Item vector = numbers(mask, f32), spread = tile->as(vector, role, f32), result;
  result.isMask = true;
  result.role = role;
  result.tile = tile->maskTile(role);
  builder.create<pto::TCmpSOp>(loc, tile->work(spread.tile), tile->scalar(builder.getF32FloatAttr(0)), result.tile,
                               pto::CmpModeAttr::get(builder.getContext(), mode));
  tile->release(vector.tile);
  tile->release(spread.tile);
  return result;
}

/// and, or, xor of two masks; xor with true is a negation.
LogicalResult BodyEmitter::emitLogic(Operation *inner) {
  FailureOr<Item> a = itemOf(inner, inner->getOperand(0)), b = itemOf(inner, inner->getOperand(1));
  if (failed(a) || failed(b))
    return failure();
  if (a->constant)
    std::swap(*a, *b);
  if (!a->isMask || !(b->isMask || b->constant))
    return inner->emitOpError("needs comparisons in the same body as its operands");
  Item result;
  result.isMask = true;
  if (b->constant) {
    if (!isa<arith::XOrIOp>(inner) || !cast<IntegerAttr>(b->constant).getValue().isOne())
      return inner->emitOpError("combines a constant; canonicalization folds it");
    items[inner->getResult(0)] = remask(*a, a->role, pto::CmpMode::eq);
    return success();
  }
  if (a->role != b->role)
    for (Item *side : {&*a, &*b})
      if (side->role != Role::Full)
        *side = remask(*side, Role::Full, pto::CmpMode::ne);
  result.role = a->role;
  result.tile = tile->maskTile(result.role);
  if (isa<arith::AndIOp>(inner)) {
    builder.create<pto::TAndOp>(loc, a->tile, b->tile, result.tile);
  } else if (isa<arith::OrIOp>(inner)) {
    builder.create<pto::TOrOp>(loc, a->tile, b->tile, result.tile);
  } else {
    Item left = numbers(*a, builder.getF32Type()), right = numbers(*b, builder.getF32Type());
    builder.create<pto::TCmpOp>(loc, tile->work(left.tile), tile->work(right.tile), result.tile,
                                pto::CmpModeAttr::get(builder.getContext(), pto::CmpMode::ne));
    tile->release(left.tile);
    tile->release(right.tile);
  }
  items[inner->getResult(0)] = result;
  return success();
}

/// Converts a boolean to a number.
LogicalResult BodyEmitter::emitFromMask(Operation *inner) {
  FailureOr<Item> mask = itemOf(inner, inner->getOperand(0));
  if (failed(mask))
    return failure();
  if (!mask->isMask)
    return inner->emitOpError("needs a comparison in the same body as its operand");
  items[inner->getResult(0)] = numbers(*mask, inner->getResult(0).getType(), destination(inner, mask->role));
  return success();
}

LogicalResult BodyEmitter::emitSelect(arith::SelectOp select) {
  FailureOr<Item> mask = itemOf(select, select.getCondition());
  FailureOr<Item> a = itemOf(select, select.getTrueValue()), b = itemOf(select, select.getFalseValue());
  if (failed(mask) || failed(a) || failed(b))
    return failure();
  if (!mask->isMask)
    return select.emitOpError("needs a comparison in the same body as its condition");
  if (!isa<FloatType, IntegerType>(select.getType()) || select.getType().isInteger(1))
    return select.emitOpError("chooses between booleans");
  for (Item *side : {&*a, &*b})
    if (!side->constant && side->role != mask->role && mask->role != Role::Full)
      *mask = remask(*mask, Role::Full, pto::CmpMode::ne);
  Type element = select.getType();
  Item result;
  result.role = mask->role;
  bool spreadA = a->constant || a->role != result.role, spreadB = b->constant || b->role != result.role;
  *a = tile->as(*a, result.role, element);
  *b = tile->as(*b, result.role, element);
  Value scratch = tile->temporary(result.role, element);
  result.tile = destination(select, result.role);
  builder.create<pto::TSelOp>(loc, mask->tile, tile->work(a->tile), tile->work(b->tile), tile->work(scratch),
                              tile->work(result.tile));
  tile->release(scratch);
  if (spreadA)
    tile->release(a->tile);
  if (spreadB)
    tile->release(b->tile);
  items[select.getResult()] = result;
  return success();
}

} // namespace pto_mlir
