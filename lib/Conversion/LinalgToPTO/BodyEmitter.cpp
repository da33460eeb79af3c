//===- BodyEmitter.cpp - tile instructions for one linalg op --------------===//

#include "BodyEmitter.h"
#include "TileBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "pto_mlir/Dialect/PTO/IR/Tiles.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace pto_mlir {
namespace {

std::optional<Binary> binaryKind(Operation *op) {
  return llvm::TypeSwitch<Operation *, std::optional<Binary>>(op)
      .Case<arith::AddFOp, arith::AddIOp>([](auto) { return Binary::Add; })
      .Case<arith::SubFOp, arith::SubIOp>([](auto) { return Binary::Sub; })
      .Case<arith::MulFOp, arith::MulIOp>([](auto) { return Binary::Mul; })
      .Case<arith::DivFOp>([](auto) { return Binary::Div; })
      .Case<arith::MaximumFOp, arith::MaxNumFOp, arith::MaxSIOp>([](auto) { return Binary::Max; })
      .Case<arith::MinimumFOp, arith::MinNumFOp, arith::MinSIOp>([](auto) { return Binary::Min; })
      .Default([](Operation *) { return std::nullopt; });
}

std::optional<pto::CmpMode> compareMode(Operation *op) {
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
pto::CmpMode mirrored(pto::CmpMode mode) {
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

class BodyEmitter {
public:
  BodyEmitter(linalg::LinalgOp op, LocalTiles &tiles, Roles roles)
      : op(op), tiles(tiles), roles(roles), builder(op), loc(op->getLoc()) {}
  LogicalResult emit();

private:
  LogicalResult collectOperands();
  FailureOr<Value> transpose(OpOperand &operand, Value source);
  LogicalResult emitOp(Operation *inner);
  LogicalResult emitUnary(Operation *inner);
  LogicalResult emitCompare(Operation *inner, pto::CmpMode mode);
  LogicalResult emitSelect(arith::SelectOp select);
  LogicalResult emitLogic(Operation *inner);
  LogicalResult emitFromMask(Operation *inner);
  Item numbers(const Item &mask, Type element, std::optional<Value> destination = std::nullopt);
  Item remask(const Item &mask, Role role, pto::CmpMode mode);
  LogicalResult emitReduction(Value yielded, unsigned init);
  FailureOr<Item> itemOf(Operation *user, Value value);
  Value destination(Operation *inner, Role role);
  Value initTile(unsigned index) { return operandTiles[op.getNumDpsInputs() + index]; }

  linalg::LinalgOp op;
  LocalTiles &tiles;
  Roles roles;
  OpBuilder builder;
  Location loc;
  std::optional<TileBuilder> tile;
  llvm::DenseMap<Value, Item> items;
  llvm::DenseMap<Value, unsigned> readersLeft;
  SmallVector<Value> operandTiles;
};

LogicalResult BodyEmitter::collectOperands() {
  TileShape full;
  bool flat = false, rowsKnown = false, colsKnown = false;
  // The destination comes last and takes precedence; inputs supply extents that it lacks.
  for (OpOperand &operand : op->getOpOperands()) {
    Value value = operand.get();
    if (!isa<MemRefType>(value.getType())) {
      operandTiles.push_back(Value());
      continue;
    }
    if (!isLocal(value))
      return op->emitOpError("has an operand outside of the unified buffer; run tile-vector-kernels first");
    FailureOr<Value> found = tiles.get(value);
    if (failed(found))
      return failure();
    operandTiles.push_back(*found);
    Role role = roles.of(operand);
    TileShape shape = tiles.shapeOf(value);
    if (roles.isTransposed(operand))
      std::swap(shape.rows, shape.cols);
    bool isColumn = !cast<pto::TileBufType>(found->getType()).isRowMajor();
    if (role == Role::Full) {
      full = shape;
      rowsKnown = colsKnown = true;
      flat |= isColumn;
    } else if (role == Role::Column && !rowsKnown) {
      full.rows = shape.cols;
    } else if (role == Role::Row && !colsKnown) {
      full.cols = shape.cols;
    }
    if ((role == Role::Column || role == Role::Scalar) && !isColumn)
      return op->emitOpError("uses a tile of rows and columns as a column vector");
  }
  tile.emplace(builder, loc, tiles, full, flat);
  for (OpOperand &operand : op->getOpOperands()) {
    BlockArgument argument = op.getMatchingBlockArgument(&operand);
    Item item;
    item.tile = operandTiles[operand.getOperandNumber()];
    item.role = roles.of(operand);
    if (item.tile && roles.isTransposed(operand)) {
      FailureOr<Value> turned = transpose(operand, item.tile);
      if (failed(turned))
        return failure();
      item.tile = *turned;
    }
    if (!item.tile) {
      if (!matchPattern(operand.get(), m_Constant(&item.constant)))
        return op->emitOpError("takes a scalar that is not a constant");
    } else if (item.role == Role::Scalar && !argument.use_empty()) {
      // A single value in memory: broadcast it across the columns first, which makes it a row vector.
      Item row;
      row.role = Role::Row;
      row.tile = tile->temporary(Role::Row, getElementTypeOrSelf(operand.get().getType()));
      tile->moveTo(item, row.tile, Role::Row);
      item = row;
    }
    items[argument] = item;
  }
  return success();
}

/// The transposed tile of the operand.
FailureOr<Value> BodyEmitter::transpose(OpOperand &operand, Value source) {
  auto type = cast<pto::TileBufType>(source.getType());
  if (!type.isRowMajor() || op.isDpsInit(&operand))
    return op->emitOpError("runs over rows and columns of one tile in two orders");
  TileShape shape = tiles.shapeOf(operand.get());
  Value scratch = builder.create<pto::AllocTileOp>(loc, type, shape.rows.dynamic, shape.cols.dynamic);
  // Transpose directly into the destination if the body only yields it.
  auto yield = cast<linalg::YieldOp>(op.getBlock()->getTerminator());
  Value target = initTile(0);
  bool copies = op.getBlock()->getOperations().size() == 1 && yield.getNumOperands() == 1 &&
                yield.getOperand(0) == op.getMatchingBlockArgument(&operand);
  Value turned = copies && cast<pto::TileBufType>(target.getType()).isRowMajor()
                     ? target
                     : tile->temporary(Role::Full, type.getElementType());
  builder.create<pto::TTransOp>(loc, source, scratch, turned);
  return turned;
}

FailureOr<Item> BodyEmitter::itemOf(Operation *user, Value value) {
  auto known = items.find(value);
  if (known != items.end())
    return known->second;
  Item item;
  if (matchPattern(value, m_Constant(&item.constant)))
    return item;
  return user->emitOpError("reads a scalar that is neither a tile nor a constant");
}

/// The destination tile if `inner` computes the yielded value and that tile has no later reads; a temporary otherwise.
Value BodyEmitter::destination(Operation *inner, Role role) {
  Value result = inner->getResult(0);
  if (result.hasOneUse() && roles.reduced() == Role::Full) {
    OpOperand &use = *result.getUses().begin();
    if (isa<linalg::YieldOp>(use.getOwner())) {
      OpOperand *init = op.getDpsInitOperand(use.getOperandNumber());
      Value target = initTile(use.getOperandNumber());
      bool readLater = false;
      for (OpOperand &operand : op->getOpOperands()) {
        Value other = operandTiles[operand.getOperandNumber()];
        if (!other || pto::getAliasRoot(other) != pto::getAliasRoot(target))
          continue;
        for (Operation *reader : op.getMatchingBlockArgument(&operand).getUsers())
          readLater |= reader != inner && !reader->isBeforeInBlock(inner);
      }
      if (roles.of(*init) == role && !readLater)
        return target;
    }
  }
  return tile->temporary(role, result.getType());
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
                   .Case<arith::ExtFOp, arith::TruncFOp, arith::SIToFPOp>([&](auto) {
                     builder.create<pto::TCvtOp>(loc, from, to, pto::RoundMode::CAST_RINT);
                     return true;
                   })
                   .Case<arith::FPToSIOp>([&](auto) {
                     builder.create<pto::TCvtOp>(loc, from, to, pto::RoundMode::TRUNC);
                     return true;
                   })
                   .Default([](Operation *) { return false; });
  if (!known)
    return inner->emitOpError("has no tile instruction");
  items[inner->getResult(0)] = result;
  return success();
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

LogicalResult BodyEmitter::emitOp(Operation *inner) {
  if (inner->getNumResults() != 1)
    return inner->emitOpError("has no tile instruction");
  Type element = inner->getResult(0).getType();
  Attribute constant;
  if (matchPattern(inner, m_Constant(&constant))) {
    Item item;
    item.constant = constant;
    items[inner->getResult(0)] = item;
    return success();
  }
  if (std::optional<pto::CmpMode> mode = compareMode(inner))
    return emitCompare(inner, *mode);
  if (auto select = dyn_cast<arith::SelectOp>(inner))
    return emitSelect(select);
  if (element.isInteger(1) && isa<arith::AndIOp, arith::OrIOp, arith::XOrIOp>(inner))
    return emitLogic(inner);
  if (isa<arith::ExtUIOp, arith::UIToFPOp>(inner) && inner->getOperand(0).getType().isInteger(1))
    return emitFromMask(inner);
  auto combine = [&](Binary kind, Value left, Value right) -> LogicalResult {
    FailureOr<Item> a = itemOf(inner, left), b = itemOf(inner, right);
    if (failed(a) || failed(b))
      return failure();
    FailureOr<Item> result =
        tile->binary(inner, kind, *a, *b, element, [&](Role role) { return destination(inner, role); });
    if (failed(result))
      return failure();
    items[inner->getResult(0)] = *result;
    return success();
  };
  if (std::optional<Binary> kind = binaryKind(inner))
    return combine(*kind, inner->getOperand(0), inner->getOperand(1));
  if (auto fma = dyn_cast<math::FmaOp>(inner)) {
    FailureOr<Item> a = itemOf(inner, fma.getA()), b = itemOf(inner, fma.getB()), c = itemOf(inner, fma.getC());
    if (failed(a) || failed(b) || failed(c))
      return failure();
    FailureOr<Item> product =
        tile->binary(inner, Binary::Mul, *a, *b, element, [&](Role role) { return tile->temporary(role, element); });
    if (failed(product))
      return failure();
    FailureOr<Item> result =
        tile->binary(inner, Binary::Add, *product, *c, element, [&](Role role) { return destination(inner, role); });
    if (failed(result))
      return failure();
    tile->release(product->tile);
    items[inner->getResult(0)] = *result;
    return success();
  }
  if (inner->getNumOperands() == 1)
    return emitUnary(inner);
  return inner->emitOpError("has no tile instruction");
}

/// The yielded value is `combine(accumulator, value)`: reduce the tile of `value`
/// to a vector, then combine that with the accumulator.
LogicalResult BodyEmitter::emitReduction(Value yielded, unsigned index) {
  Operation *combiner = yielded.getDefiningOp();
  std::optional<Binary> kind = combiner ? binaryKind(combiner) : std::nullopt;
  BlockArgument accumulator = op.getMatchingBlockArgument(op.getDpsInitOperand(index));
  if (!kind || *kind == Binary::Sub || *kind == Binary::Div ||
      (combiner->getOperand(0) != accumulator && combiner->getOperand(1) != accumulator))
    return op->emitOpError("reduces with something else than a sum, product, maximum or minimum");
  Value reduced = combiner->getOperand(combiner->getOperand(0) == accumulator ? 1 : 0);
  Type element = yielded.getType();
  FailureOr<Item> item = itemOf(combiner, reduced);
  if (failed(item))
    return failure();
  Item source = tile->as(*item, Role::Full, element);
  bool columns = roles.reduced() == Role::Column;
  Role resultRole = roles.of(*op.getDpsInitOperand(index));
  // The form of the partial result: one value per row (columns reduced), or per column.
  Role partialRole = columns ? Role::Column : Role::Row;
  if (resultRole != partialRole && !(resultRole == Role::Full && !columns))
    return op->emitOpError("its result does not have the form of a reduced tile");
  Value partial = tile->temporary(partialRole, element);
  if (columns) {
    Value scratch = tile->temporary(Role::Full, element);
    Value from = tile->work(source.tile), tmp = tile->work(scratch);
    switch (*kind) {
    case Binary::Add:
      builder.create<pto::TRowSumOp>(loc, from, tmp, partial);
      break;
    case Binary::Max:
      builder.create<pto::TRowMaxOp>(loc, from, tmp, partial);
      break;
    case Binary::Min:
      builder.create<pto::TRowMinOp>(loc, from, tmp, partial);
      break;
    default:
      builder.create<pto::TRowProdOp>(loc, from, tmp, partial);
      break;
    }
    tile->release(scratch);
  } else {
    Value from = tile->work(source.tile);
    switch (*kind) {
    case Binary::Add:
      builder.create<pto::TColSumOp>(loc, from, partial);
      break;
    case Binary::Max:
      builder.create<pto::TColMaxOp>(loc, from, partial);
      break;
    case Binary::Min:
      builder.create<pto::TColMinOp>(loc, from, partial);
      break;
    default:
      builder.create<pto::TColProdOp>(loc, from, partial);
      break;
    }
  }
  Item left, right;
  left.tile = initTile(index);
  right.tile = partial;
  left.role = right.role = partialRole;
  Value target = initTile(index);
  FailureOr<Item> sum = tile->binary(combiner, *kind, left, right, element, [&](Role) { return target; });
  tile->release(partial);
  return success(succeeded(sum));
}

LogicalResult BodyEmitter::emit() {
  if (failed(collectOperands()))
    return failure();
  Block *body = op.getBlock();
  bool reduces = roles.reduced() != Role::Full;
  auto yield = cast<linalg::YieldOp>(body->getTerminator());
  llvm::SmallDenseSet<Operation *> combiners;
  if (reduces)
    for (Value value : yield.getOperands())
      if (Operation *combiner = value.getDefiningOp())
        combiners.insert(combiner);
  auto finishReading = [&](Operation *inner) {
    for (Value operand : inner->getOperands()) {
      auto item = items.find(operand);
      bool last = item != items.end() && !isa<BlockArgument>(operand) &&
                  llvm::all_of(operand.getUsers(),
                               [&](Operation *user) { return user == inner || user->isBeforeInBlock(inner); });
      if (last && item->second.tile)
        tile->release(item->second.tile);
    }
  };
  for (Operation &inner : body->without_terminator()) {
    if (combiners.contains(&inner))
      continue;
    if (failed(emitOp(&inner)))
      return failure();
    finishReading(&inner);
  }
  for (auto [index, value] : llvm::enumerate(yield.getOperands())) {
    if (reduces) {
      if (failed(emitReduction(value, index)))
        return failure();
      continue;
    }
    FailureOr<Item> item = itemOf(yield, value);
    if (failed(item))
      return failure();
    OpOperand *init = op.getDpsInitOperand(index);
    if (item->tile != initTile(index))
      tile->moveTo(*item, initTile(index), roles.of(*init));
  }
  return success();
}

} // namespace

LogicalResult emitBody(linalg::LinalgOp op, LocalTiles &tiles) {
  FailureOr<Roles> roles = Roles::compute(op);
  if (failed(roles))
    return failure();
  return BodyEmitter(op, tiles, *roles).emit();
}

} // namespace pto_mlir
