//===- BodyEmitter.cpp - tile instructions for one linalg op --------------===//

#include "BodyEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "pto_mlir/Dialect/PTO/IR/Tiles.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace pto_mlir {

std::optional<Binary> BodyEmitter::binaryKind(Operation *op) {
  return llvm::TypeSwitch<Operation *, std::optional<Binary>>(op)
      .Case<arith::AddFOp, arith::AddIOp>([](auto) { return Binary::Add; })
      .Case<arith::SubFOp, arith::SubIOp>([](auto) { return Binary::Sub; })
      .Case<arith::MulFOp, arith::MulIOp>([](auto) { return Binary::Mul; })
      .Case<arith::DivFOp>([](auto) { return Binary::Div; })
      .Case<arith::MaximumFOp, arith::MaxNumFOp, arith::MaxSIOp>([](auto) { return Binary::Max; })
      .Case<arith::MinimumFOp, arith::MinNumFOp, arith::MinSIOp>([](auto) { return Binary::Min; })
      .Default([](Operation *) { return std::nullopt; });
}

/// Whether an op after `inner` reads the tile of `value`, under another type too.
static bool isReadAfter(Value value, Operation *inner) {
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    return isa<arith::BitcastOp>(user) ? isReadAfter(user->getResult(0), inner)
                                       : user != inner && !user->isBeforeInBlock(inner);
  });
}

LogicalResult BodyEmitter::collectTiles() {
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
  return success();
}

/// The rounding to fewer bits that is all that the body does with `argument`, if any.
static arith::TruncFOp roundingOf(BlockArgument argument) {
  return argument.hasOneUse() ? dyn_cast<arith::TruncFOp>(*argument.user_begin()) : arith::TruncFOp();
}

LogicalResult BodyEmitter::collectItems() {
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
      if (arith::TruncFOp rounding = roundingOf(argument))
        items[rounding] = item;
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

/// The transposed tile of the operand. One that is rounded is rounded first, since half the bytes are transposed then.
FailureOr<Value> BodyEmitter::transpose(OpOperand &operand, Value source) {
  auto type = cast<pto::TileBufType>(source.getType());
  if (!type.isRowMajor() || op.isDpsInit(&operand))
    return op->emitOpError("runs over rows and columns of one tile in two orders");
  TileShape shape = tiles.shapeOf(operand.get());
  Value transposed = op.getMatchingBlockArgument(&operand);
  int64_t steps = 1;
  if (arith::TruncFOp rounding = roundingOf(op.getMatchingBlockArgument(&operand))) {
    type = pto::makeVecTile(builder.getContext(), type.getRows(), type.getCols(), rounding.getType(),
                            type.getValidRows(), type.getValidCols());
    Value rounded = builder.create<pto::AllocTileOp>(loc, type, shape.rows.dynamic, shape.cols.dynamic);
    builder.create<pto::TCvtOp>(loc, source, rounded, pto::RoundMode::CAST_RINT);
    source = rounded;
    transposed = rounding;
    ++steps;
  }
  Value scratch = builder.create<pto::AllocTileOp>(loc, type, shape.rows.dynamic, shape.cols.dynamic);
  // Transpose directly into the destination if the body only yields it.
  auto yield = cast<linalg::YieldOp>(op.getBlock()->getTerminator());
  Value target = initTile(0);
  bool copies = static_cast<int64_t>(op.getBlock()->getOperations().size()) == steps && yield.getNumOperands() == 1 &&
                yield.getOperand(0) == transposed;
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
        readLater |= isReadAfter(op.getMatchingBlockArgument(&operand), inner);
      }
      if (roles.of(*init) == role && !readLater)
        return target;
    }
  }
  return tile->temporary(role, result.getType());
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
  if (isa<arith::AndIOp, arith::OrIOp, arith::XOrIOp>(inner))
    return element.isInteger(1) ? emitLogic(inner) : emitBits(inner);
  if (auto bits = dyn_cast<arith::BitcastOp>(inner))
    return emitBitcast(bits);
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
  if (isa<arith::ShLIOp, arith::ShRSIOp>(inner))
    return emitShift(inner);
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

LogicalResult BodyEmitter::emit() {
  if (failed(collectTiles()) || failed(collectItems()))
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
      while (auto bits = operand.getDefiningOp<arith::BitcastOp>())
        operand = bits.getIn();
      auto item = items.find(operand);
      bool last = item != items.end() && !isa<BlockArgument>(operand) && !isReadAfter(operand, inner);
      if (last && item->second.tile)
        tile->release(item->second.tile);
    }
  };
  for (Operation &inner : body->without_terminator()) {
    bool computed = inner.getNumResults() == 1 && items.contains(inner.getResult(0));
    if (combiners.contains(&inner) || computed)
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

LogicalResult emitBody(linalg::LinalgOp op, LocalTiles &tiles) {
  FailureOr<Roles> roles = Roles::compute(op);
  if (failed(roles))
    return failure();
  return BodyEmitter(op, tiles, *roles).emit();
}

} // namespace pto_mlir
