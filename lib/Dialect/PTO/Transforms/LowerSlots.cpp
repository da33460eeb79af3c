//===- LowerSlots.cpp - slots of an alloc_multi_tile to tiles ---------------------------===//

#include "LowerSlots.h"

#include "Accesses.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace pto_mlir::pto;

//===- slots that take turns ------------------------------------------------------===//

static Value withoutCasts(Value value) {
  while (Operation *def = value.getDefiningOp()) {
    if (!isa<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtSIOp, arith::ExtUIOp>(def))
      break;
    value = def->getOperand(0);
  }
  return value;
}

static scf::ForOp loopOf(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  auto loop = argument ? dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp()) : scf::ForOp();
  return loop && value == loop.getInductionVar() ? loop : scf::ForOp();
}

/// Whether the value is the same whenever the kernel comes to it.
static bool isFixed(Value value) {
  if (getConstantIntValue(value))
    return true;
  for (Operation *op = value.getParentRegion()->getParentOp(); op; op = op->getParentOp())
    if (isa<LoopLikeOpInterface>(op))
      return false;
  return true;
}

/// The loop whose trips are the quotient: `iv / step` from a bound that is not negative, or `(iv - lower bound) /
/// step`.
static scf::ForOp loopOfQuotient(Value number, Value by) {
  number = withoutCasts(number);
  auto difference = number.getDefiningOp<arith::SubIOp>();
  scf::ForOp loop = loopOf(difference ? withoutCasts(difference.getLhs()) : number);
  auto isSame = [](Value a, Value b) {
    std::optional<int64_t> known = getConstantIntValue(a);
    return withoutCasts(a) == withoutCasts(b) || (known && known == getConstantIntValue(b));
  };
  if (!loop || !isSame(by, loop.getStep()))
    return {};
  bool counts = difference ? isSame(difference.getRhs(), loop.getLowerBound())
                           : getConstantIntValue(loop.getLowerBound()).value_or(-1) >= 0 && isFixed(by);
  return counts ? loop : scf::ForOp();
}

/// A number of the same parity: before remainders of an even number, low bits kept by a mask, and the correction of a
/// remainder to the sign of its divisor.
static Value ofSameParity(Value number) {
  for (;;) {
    number = withoutCasts(number);
    Operation *def = number.getDefiningOp();
    if (auto select = number.getDefiningOp<arith::SelectOp>()) {
      auto more = select.getTrueValue().getDefiningOp<arith::AddIOp>();
      if (!more || more.getLhs() != select.getFalseValue() || getConstantIntValue(more.getRhs()).value_or(1) % 2 != 0)
        return number;
      number = select.getFalseValue();
      continue;
    }
    if (!def || !isa<arith::RemSIOp, arith::RemUIOp, arith::AndIOp>(def))
      return number;
    std::optional<int64_t> by = getConstantIntValue(def->getOperand(1));
    if (!by || *by <= 0 || *by % 2 != (isa<arith::AndIOp>(def) ? 1 : 0))
      return number;
    number = def->getOperand(0);
  }
}

/// The loop of which every trip makes an even `number` odd and an odd one even, so that trips in a row take different
/// slots; null where none is known. Its first trip has the same number each time that the loop is run: flags go by
/// the trip.
static scf::ForOp alternatesIn(Value number) {
  number = ofSameParity(number);
  if (scf::ForOp loop = loopOf(number))
    return getConstantIntValue(loop.getStep()).value_or(0) % 2 != 0 && isFixed(loop.getLowerBound()) ? loop
                                                                                                     : scf::ForOp();
  Operation *def = number.getDefiningOp();
  if (!def)
    return {};
  if (isa<arith::DivSIOp, arith::DivUIOp, arith::FloorDivSIOp>(def))
    return loopOfQuotient(def->getOperand(0), def->getOperand(1));
  if (!isa<arith::AddIOp, arith::SubIOp, arith::XOrIOp>(def))
    return {};
  for (unsigned i : {0u, 1u})
    if (scf::ForOp loop = alternatesIn(def->getOperand(i)); loop && isFixed(def->getOperand(1 - i)))
      return loop;
  return {};
}

/// Whether the two are computed alike from the same values.
static bool isSameNumber(Value a, Value b) {
  if (a == b)
    return true;
  Operation *one = a.getDefiningOp(), *other = b.getDefiningOp();
  if (!one || !other || !isPure(one))
    return false;
  return OperationEquivalence::isEquivalentTo(
      one, other, [](Value x, Value y) { return success(isSameNumber(x, y)); }, nullptr,
      OperationEquivalence::IgnoreLocations);
}

/// Whether the number can be computed at the top of the loop's body.
static bool isKnownAtTop(Value number, scf::ForOp loop) {
  if (loop.isDefinedOutsideOfLoop(number) || (number.getParentBlock() == loop.getBody() && isa<BlockArgument>(number)))
    return true;
  Operation *def = number.getDefiningOp();
  return def && isPure(def) && def->getNumRegions() == 0 &&
         llvm::all_of(def->getOperands(), [&](Value operand) { return isKnownAtTop(operand, loop); });
}

/// `number`, computed at the builder's place as it is inside of `loop`.
static Value computeAt(OpBuilder &b, Value number, scf::ForOp loop) {
  Operation *def = number.getDefiningOp();
  if (!def || loop.isDefinedOutsideOfLoop(number))
    return number;
  IRMapping mapping;
  for (Value operand : def->getOperands())
    mapping.map(operand, computeAt(b, operand, loop));
  return b.clone(*def, mapping)->getResult(cast<OpResult>(number).getResultNumber());
}

//===- the tiles -------------------------------------------------------------------===//

namespace {
class SlotLowering {
public:
  SlotLowering(AllocMultiTileOp op, bool planned)
      : op(op), planned(planned), base(getConstantIntValue(op.getAddr())),
        stride(getSlotStride(op, planned, targetOf(op))) {}
  LogicalResult run();

private:
  Value lower(MultiTileGetOp get);
  AllocTileOp make(OpBuilder &b, Location loc, Value slot);
  Value takeTurns(MultiTileGetOp get, scf::ForOp loop);

  AllocMultiTileOp op;
  bool planned;
  std::optional<int64_t> base;
  int64_t stride;
  struct Turn {
    scf::ForOp loop;
    Value slot;
    AllocTileOp tile;
  };
  SmallVector<Turn> turns; // by loop and slot, of those that are not given another valid shape
};
} // namespace

AllocTileOp SlotLowering::make(OpBuilder &b, Location loc, Value slot) {
  auto constant = [&](int64_t value) {
    return b.create<arith::ConstantOp>(loc, b.getI64IntegerAttr(value)).getResult();
  };
  std::optional<int64_t> known = getConstantIntValue(slot);
  Value address;
  if (base && known) {
    address = constant(*base + *known * stride);
  } else {
    Value number = b.createOrFold<arith::IndexCastOp>(loc, b.getI64Type(), slot);
    address = b.createOrFold<arith::MulIOp>(loc, number, constant(stride));
    address = b.createOrFold<arith::AddIOp>(loc, address, base ? constant(*base) : op.getAddr());
  }
  auto tile = b.create<AllocTileOp>(loc, op.getTileType(), address, op.getValidRow(), op.getValidCol());
  if (planned && getPaddedTileBytes(op.getTileType()) != getTileBytes(op.getTileType()))
    tile->setAttr(kPaddedAttr, b.getUnitAttr());
  return tile;
}

static bool hasShapeSet(MultiTileGetOp get) {
  return llvm::any_of(get->getUsers(), [](Operation *user) { return isa<SetValidShapeOp>(user); });
}

/// The tile of a slot that takes turns, directly in the body of its loop, where the engines' flags for it stand; null
/// where it cannot stand there.
Value SlotLowering::takeTurns(MultiTileGetOp get, scf::ForOp loop) {
  bool shared = !hasShapeSet(get), inBody = get->getParentOp() == loop;
  if (!inBody && (!shared || !loop.isDefinedOutsideOfLoop(op.getResult()) || !isKnownAtTop(get.getSlot(), loop)))
    return {};
  if (shared)
    for (Turn &turn : turns)
      if (turn.loop == loop && isSameNumber(turn.slot, get.getSlot()))
        return turn.tile.getResult();
  OpBuilder b(get);
  if (!inBody)
    b.setInsertionPointToStart(loop.getBody());
  AllocTileOp tile = make(b, get.getLoc(), inBody ? get.getSlot() : computeAt(b, get.getSlot(), loop));
  tile->setAttr(kBaseAttr, b.getI64IntegerAttr(*base));
  tile->setAttr(kBuffersAttr, b.getI32IntegerAttr(int32_t(op.getResult().getType().getCount())));
  if (shared)
    turns.push_back({loop, get.getSlot(), tile});
  return tile;
}

Value SlotLowering::lower(MultiTileGetOp get) {
  OpBuilder b(get);
  if (!base || getConstantIntValue(get.getSlot()))
    return make(b, get.getLoc(), get.getSlot());
  if (scf::ForOp loop = alternatesIn(get.getSlot()))
    if (Value tile = takeTurns(get, loop))
      return tile;
  AllocTileOp tile = make(b, get.getLoc(), get.getSlot());
  tile->setAttr(kRingAttr, b.getDenseI64ArrayAttr({*base, stride * op.getResult().getType().getCount()}));
  return tile;
}

LogicalResult SlotLowering::run() {
  SmallVector<MultiTileGetOp> gets; // in program order: a tile that several share stands before all of them
  for (Operation *user : op->getUsers())
    if (!isa<MultiTileGetOp>(user))
      return user->emitOpError("cannot hand slots on; take a tile with pto.multi_tile_get and hand that on");
  op->getParentOfType<func::FuncOp>().walk([&](MultiTileGetOp get) {
    if (get.getSource() == op.getResult())
      gets.push_back(get);
  });
  for (MultiTileGetOp get : gets)
    if (!get.use_empty())
      get.getResult().replaceAllUsesWith(lower(get));
  for (MultiTileGetOp get : gets)
    get.erase();
  Operation *address = op.getAddr().getDefiningOp();
  op.erase();
  if (address && isOpTriviallyDead(address))
    address->erase();
  return success();
}

int64_t pto_mlir::pto::getSlotStride(AllocMultiTileOp op, bool planned, const Target &arch) {
  return planned ? getAlignedBytes(op.getTileType(), arch) : getTileBytes(op.getTileType());
}

LogicalResult pto_mlir::pto::lowerSlots(AllocMultiTileOp op, bool planned) { return SlotLowering(op, planned).run(); }
