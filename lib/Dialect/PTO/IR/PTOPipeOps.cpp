//===- PTOPipeOps.cpp - queues of tiles between cube and vector cores ------------------===//

#include "PtrSyntax.h"
#include "VerifyHelpers.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace pto_mlir::pto;

ParseResult pto_mlir::pto::parsePtrType(OpAsmParser &parser, Type &type) {
  PtrType pointer;
  if (parser.parseCustomTypeWithFallback(pointer))
    return failure();
  type = pointer;
  return success();
}
void pto_mlir::pto::printPtrType(OpAsmPrinter &printer, Operation *, Type type) { printer << type; }

static std::optional<KernelKind> kindAround(Operation *op) {
  auto func = op->getParentOfType<func::FuncOp>();
  auto kind = func ? func->getAttrOfType<KernelKindAttr>(kKernelKindAttr) : KernelKindAttr();
  return kind ? std::optional(kind.getValue()) : std::nullopt;
}

static LogicalResult verifySplit(Operation *op, int64_t split) {
  if (split < 0 || split > 4)
    return op->emitOpError("expects split 0 (whole), 1 (upper and lower) or 2 (left and right), 3 or 4 (the same with "
                           "one more in the first part), got ")
           << split;
  return success();
}

static LogicalResult verifyFront(Operation *op, KernelKind kind) {
  if (kindAround(op) != kind)
    return op->emitOpError("must be in a function with pto.kernel_kind = #pto.kernel_kind<")
           << stringifyKernelKind(kind) << ">";
  return success();
}
static LogicalResult verifyFrontSplit(Operation *op, KernelKind kind, int64_t split) {
  return failed(verifyFront(op, kind)) ? failure() : verifySplit(op, split);
}

static LogicalResult verifyMask(Operation *op, int64_t mask) {
  if (mask < 1 || mask > 3)
    return op->emitOpError("expects dir_mask 1 (cube to vector), 2 (vector to cube) or 3 (both), got ") << mask;
  return success();
}

template <typename Op> static LogicalResult verifyFrontInit(Op op, KernelKind kind) {
  if (failed(verifyFront(op, kind)) || failed(verifyMask(op, op.getDirMask())))
    return failure();
  if (static_cast<int32_t>(op.getSlotSize()) <= 0)
    return op.emitOpError("expects a positive slot_size, got ") << static_cast<int32_t>(op.getSlotSize());
  int count = 0;
  op->template getParentOfType<func::FuncOp>().walk(
      [&](Op other) { count += other.getId().value_or(0) == op.getId().value_or(0); });
  if (count > 1)
    return op.emitOpError("may stand once in a function, or once with each id");
  return success();
}
LogicalResult AicInitializePipeOp::verify() { return verifyFrontInit(*this, KernelKind::cube); }
LogicalResult AivInitializePipeOp::verify() { return verifyFrontInit(*this, KernelKind::vector); }

/// Engine that takes a tile out of its memory towards another core; PIPE_UNASSIGNED when none can.
static Pipe pushPipe(Value tile) {
  TileBufType type = asTile(tile);
  if (type && type.getLoc() == AddressSpace::acc)
    return Pipe::PIPE_FIX;
  return type && type.getLoc() != AddressSpace::vec ? Pipe::PIPE_UNASSIGNED : Pipe::PIPE_MTE3;
}
static Pipe popPipe(Operation *op, Value tile) {
  TileBufType type = asTile(tile);
  if (type && !isIn(type.getLoc(), {AddressSpace::vec, AddressSpace::mat}))
    return Pipe::PIPE_UNASSIGNED;
  return targetOf(op).directTiles ? Pipe::PIPE_S : Pipe::PIPE_MTE2;
}

Pipe TPushToAivOp::getPipe() { return pushPipe(getTile()); }
Pipe TPushToAicOp::getPipe() { return pushPipe(getTile()); }
Pipe TPushOp::getPipe() { return pushPipe(getTile()); }
Pipe TPopFromAicOp::getPipe() { return popPipe(*this, getTile()); }
Pipe TPopFromAivOp::getPipe() { return popPipe(*this, getTile()); }
Pipe TPopOp::getPipe() { return popPipe(*this, getTile()); }

LogicalResult TPushToAivOp::verify() { return verifyFrontSplit(*this, KernelKind::cube, getSplit()); }
LogicalResult TPushToAicOp::verify() { return verifyFrontSplit(*this, KernelKind::vector, getSplit()); }
LogicalResult TFreeFromAicOp::verify() { return verifyFrontSplit(*this, KernelKind::vector, getSplit()); }
LogicalResult TFreeFromAivOp::verify() { return verifyFrontSplit(*this, KernelKind::cube, getSplit()); }

template <typename Op> static LogicalResult verifyFrontPop(Op op, KernelKind kind) {
  if (failed(verifyFrontSplit(op, kind, op.getSplit())))
    return failure();
  TileBufType type = asTile(op.getTile());
  if (static_cast<bool>(op.getValidRow()) != static_cast<bool>(op.getValidCol()))
    return op.emitOpError("expects a valid row and a valid column together");
  if (op.getValidRow() && (!type || !type.hasDynamicValidRows() || !type.hasDynamicValidCols()))
    return op.emitOpError("expects a tile with valid=?x? for a valid row and column, got ") << op.getTile().getType();
  return success();
}
LogicalResult TPopFromAicOp::verify() { return verifyFrontPop(*this, KernelKind::vector); }
LogicalResult TPopFromAivOp::verify() { return verifyFrontPop(*this, KernelKind::cube); }

LogicalResult ReserveBufferOp::verify() {
  if (static_cast<int32_t>(getSize()) <= 0)
    return emitOpError("expects a positive size, got ") << static_cast<int32_t>(getSize());
  if (!isIn(getLocation(), {AddressSpace::vec, AddressSpace::mat}))
    return emitOpError("expects location vec or mat, got ") << stringifyAddressSpace(getLocation());
  if (!getAutoAlloc() && !getBaseAttr())
    return emitOpError("expects a base when auto is false");
  if (getBaseAttr() && getBaseAttr().getInt() < 0)
    return emitOpError("expects a base of 0 or more, got ") << getBaseAttr().getInt();
  auto func = (*this)->getParentOfType<func::FuncOp>();
  if (!func)
    return emitOpError("must be in a function");
  // A function that holds the code of both kinds of core counts as two.
  Operation *scope = func;
  for (Operation *parent = *this; parent != func; parent = parent->getParentOp())
    if (isa<SectionCubeOp, SectionVectorOp>(parent))
      scope = parent;
  int count = 0;
  scope->walk([&](ReserveBufferOp other) { count += other.getName() == getName(); });
  if (scope == func)
    func.walk([&](ReserveBufferOp other) {
      count -= other.getName() == getName() &&
               (other->getParentOfType<SectionCubeOp>() || other->getParentOfType<SectionVectorOp>());
    });
  if (count > 1)
    return emitOpError("may stand once in a function, or once with each name");
  return success();
}

LogicalResult ImportReservedBufferOp::verify() {
  auto func = (*this)->getParentOfType<func::FuncOp>();
  if (!func)
    return emitOpError("must be in a function");
  int count = 0;
  func.walk([&](ImportReservedBufferOp other) {
    count += other.getName() == getName() && other.getPeerFunc() == getPeerFunc();
  });
  if (count > 1)
    return emitOpError("may stand once in a function, or once for each buffer");
  auto peer = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(*this, getPeerFuncAttr());
  if (!peer)
    return emitOpError("expects a function @") << getPeerFunc() << ", there is none";
  bool found = false;
  peer.walk([&](ReserveBufferOp reserve) { found |= reserve.getName() == getName(); });
  if (!found)
    return emitOpError("expects a reserve_buffer named \"")
           << getName() << "\" in @" << getPeerFunc() << ", there is none";
  return success();
}

template <typename Op> static LogicalResult verifyInit(Op op) {
  if (failed(verifyMask(op, op.getDirMask())))
    return failure();
  if (static_cast<int32_t>(op.getSlotSize()) <= 0)
    return op.emitOpError("expects a positive slot_size, got ") << static_cast<int32_t>(op.getSlotSize());
  if (int32_t slots = static_cast<int32_t>(op.getSlotNum()); slots < 1 || slots > 8)
    return op.emitOpError("expects slot_num of 1 to 8, got ") << static_cast<int32_t>(op.getSlotNum());
  if (auto base = op.getFlagBaseAttr(); base && base.getInt() < 0)
    return op.emitOpError("expects a flag_base of 0 or more, got ") << base.getInt();
  if ((op.getDirMask() == 3) != static_cast<bool>(op.getPeerLocalAddr()))
    return op.emitOpError("expects a second local address for dir_mask 3 and only then");
  return success();
}
LogicalResult InitializeL2LPipeOp::verify() { return verifyInit(*this); }
LogicalResult InitializeL2G2LPipeOp::verify() {
  if (auto slots = getLocalSlotNumAttr();
      slots && (slots.getInt() <= 0 || slots.getInt() > static_cast<int32_t>(getSlotNum())))
    return emitOpError("expects a local_slot_num of 1 to ")
           << static_cast<int32_t>(getSlotNum()) << ", got " << slots.getInt();
  return verifyInit(*this);
}

static LogicalResult verifyQueueOp(Operation *op, Value queue, int64_t split, Pipe pipe) {
  if (!kindAround(op) && !op->getParentOfType<SectionCubeOp>() && !op->getParentOfType<SectionVectorOp>())
    return op->emitOpError("must be in a section or in a function with pto.kernel_kind");
  if (!queue.getDefiningOp<InitializeL2LPipeOp>() && !queue.getDefiningOp<InitializeL2G2LPipeOp>())
    return op->emitOpError("expects a queue of initialize_l2l_pipe or initialize_l2g2l_pipe");
  if (pipe == Pipe::PIPE_UNASSIGNED)
    return op->emitOpError("works on no tile of this memory");
  return verifySplit(op, split);
}
LogicalResult TPushOp::verify() { return verifyQueueOp(*this, getPipeHandle(), getSplit(), getPipe()); }
LogicalResult TPopOp::verify() { return verifyQueueOp(*this, getPipeHandle(), getSplit(), getPipe()); }
LogicalResult TFreeOp::verify() { return verifyQueueOp(*this, getPipeHandle(), getSplit(), getPipe()); }
