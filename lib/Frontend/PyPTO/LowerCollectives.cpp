// Operations in which all ranks take part: barriers around loads of the copies of others, or stores to them.
#include "Lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "pto_mlir/Dialect/PTO/IR/Tiles.h"

using namespace mlir;

namespace pto_mlir::pypto_frontend {

namespace {

/// Elements of a run that goes through one tile.
int64_t runLength(Type element) { return (16 << 10) * 8 / int64_t(pto::getElementBits(element)); }

} // namespace

/// The devices that share the windows of a collective.
void Lowering::enterGroup(const ir::CallPtr &op) {
  std::optional<unsigned> found;
  for (const ir::ExprPtr &arg : op->args_) {
    if (groups.empty() || !ir::IsA<ir::TensorType>(arg->type_))
      continue;
    auto window = copies.find(valueOf(arg));
    if (window == copies.end())
      continue;
    if (found && *found != window->second.group)
      fail(op->span_, op->op_->name_ + ": " + nameOf(arg) +
                          " is a window of other devices than those before it; pass "
                          "all windows of a collective to the same devices");
    found = window->second.group;
  }
  if (!found)
    fail(op->span_, op->op_->name_ + " needs the ranks of a program: its windows are those of a host level, which "
                                     "launches the kernel");
  rankIndex = groups[*found].rank;
  ranks = groups[*found].ranks;
}

/// A barrier: each rank raises its cell in the copies of all others, and waits for theirs in its own. A cell is lowered
/// by one and not set to zero, since a rank that was first may have raised it again.
void Lowering::meet(const ir::ExprPtr &signal, const ir::CallPtr &op) {
  if (!signal)
    fail(op->span_, op->op_->name_ + " in a kernel needs a signal");
  enterGroup(op);
  Value view = valueOf(signal);
  if (!copies.count(view))
    (void)peersView(signal, indexConstant(0)); // which says so
  int64_t cells = elementsOf(signal);
  if (cells < ranks)
    fail(op->span_, nameOf(signal) + " has " + std::to_string(cells) + " cells; a barrier of " + std::to_string(ranks) +
                        " ranks needs one for each");
  Value one = constant(b.getI32IntegerAttr(1), b.getI32Type()),
        less = constant(b.getI32IntegerAttr(-1), b.getI32Type());
  auto forOthers = [&](llvm::function_ref<void(Value)> body) {
    forEach(ValueRange{indexConstant(ranks)}, [&](ValueRange at) {
      Value isOther = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ne, at[0], rankIndex);
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(b.create<scf::IfOp>(loc, isOther, /*withElseRegion=*/false).thenBlock());
      body(at[0]);
    });
  };
  forOthers([&](Value peer) { notifyCell(cellOf(pointerOf(peersView(signal, peer)), rankIndex), one, true); });
  forOthers([&](Value peer) {
    Value cell = cellOf(pointerOf(view), peer);
    waitForCell(cell, one, true);
    notifyCell(cell, less, true);
  });
}

Value Lowering::meetRanks(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &) {
  meet(call.Operand("signal"), op);
  return valueOf(call.Operand("signal"));
}

int64_t Lowering::elementsOf(const ir::ExprPtr &tensor) {
  int64_t count = 1;
  for (const ir::ExprPtr &extent : *ir::ShapeOf(tensor->type_)) {
    auto known = getConstantIntValue(indexOf(extent));
    if (!known)
      fail(tensor->span_, nameOf(tensor) + " has an extent known at run time, which is not lowered yet here");
    count *= std::clamp<int64_t>(*known, 0, 1 << 20);
    CHECK(count <= int64_t(1) << 40) << "a tensor of so many elements";
  }
  return count;
}

/// The pointer `index` times `elements` on.
Value Lowering::moved(Value pointer, Value index, int64_t elements) {
  Value distance = b.create<arith::MulIOp>(loc, index, indexConstant(elements));
  return b.create<pto::AddPtrOp>(loc, pointer, distance);
}

Value Lowering::runTile(Type element, int64_t elements) {
  int64_t align = 256 / int64_t(pto::getElementBits(element)),
          cols = int64_t(llvm::alignTo(uint64_t(elements), uint64_t(align)));
  return scratch(pto::makeVecTile(b.getContext(), 1, cols, element, 1, elements));
}

Value Lowering::runView(Value pointer, int64_t elements) {
  return matrixView(pointer, 1, elements, indexConstant(elements), indexConstant(1));
}

void Lowering::copyRun(Value from, Value to, int64_t elements, const ir::CallPtr &op) {
  Type element = cast<pto::PtrType>(from.getType()).getElementType();
  if (from.getType() != to.getType())
    fail(op->span_, op->op_->name_ + " works on tensors of one element type");
  Value one = indexConstant(1);
  for (int64_t begin = 0, part = runLength(element); begin < elements; begin += part) {
    int64_t count = std::min(part, elements - begin);
    Value tile = runTile(element, count);
    b.create<pto::TLoadOp>(loc, runView(moved(from, one, begin), count), tile);
    b.create<pto::TStoreOp>(loc, tile, runView(moved(to, one, begin), count));
  }
}

/// `elements` of all copies, reduced in the order of the ranks, so that each rank computes the same bits.
Value Lowering::reducedRun(const ir::OpView &call, Value own, int64_t begin, int64_t elements) {
  ir::ExprPtr target = call.Operand("target");
  Type element = cast<pto::PtrType>(own.getType()).getElementType();
  Value sum = runTile(element, elements), next = runTile(element, elements), one = indexConstant(1);
  // Where this rank's part begins, in the copy of another.
  auto viewOf = [&](Value peer) {
    Value first = pointerOf(peersView(target, peer));
    if (call.row()->name == "comm.reduce_scatter")
      first = moved(first, rankIndex, elementsOf(target) / ranks);
    return runView(moved(first, one, begin), elements);
  };
  b.create<pto::TLoadOp>(loc, viewOf(indexConstant(0)), sum);
  if (ranks == 1)
    return sum;
  forEach(ValueRange{indexConstant(ranks - 1)}, [&](ValueRange at) {
    b.create<pto::TLoadOp>(loc, viewOf(b.create<arith::AddIOp>(loc, at[0], one)), next);
    switch (*call.Enum<ir::ReduceOp>("op")) {
    case ir::ReduceOp::Sum:
      b.create<pto::TAddOp>(loc, sum, next, sum);
      break;
    case ir::ReduceOp::Max:
      b.create<pto::TMaxOp>(loc, sum, next, sum);
      break;
    case ir::ReduceOp::Min:
      b.create<pto::TMinOp>(loc, sum, next, sum);
      break;
    case ir::ReduceOp::Prod:
      b.create<pto::TMulOp>(loc, sum, next, sum);
      break;
    }
  });
  return sum;
}

Value Lowering::broadcast(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &) {
  ir::ExprPtr target = call.Operand("target"), signal = call.Operand("signal");
  int64_t root = *call.Keyword<int64_t>("root");
  enterGroup(op);
  if (root < 0 || root >= ranks)
    fail(op->span_, "there is no rank " + std::to_string(root) + " of " + std::to_string(ranks) + " to be root");
  meet(signal, op);
  Value isOther = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ne, rankIndex, indexConstant(root));
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(b.create<scf::IfOp>(loc, isOther, /*withElseRegion=*/false).thenBlock());
    copyRun(pointerOf(peersView(target, indexConstant(root))), pointerOf(valueOf(target)), elementsOf(target), op);
  }
  meet(signal, op);
  return valueOf(target);
}

/// Tells each rank how many rows of its part are meant, at most `most`: in the cell of this rank.
void Lowering::publishCounts(const ir::OpView &call, int64_t most) {
  Value sent = pointerOf(valueOf(call.Operand("send_counts")));
  Value limit = constant(b.getI32IntegerAttr(int32_t(most)), b.getI32Type());
  forEach(ValueRange{indexConstant(ranks)}, [&](ValueRange at) {
    Value count = b.create<pto::LoadScalarOp>(loc, b.getI32Type(), sent, at[0]);
    Value held = b.create<arith::MinSIOp>(loc, count, limit);
    notifyCell(cellOf(pointerOf(peersView(call.Operand("recv_counts"), at[0])), rankIndex), held, false);
  });
}

/// What each rank has for every other one: all of it, or the part of that rank.
Value Lowering::gatherAll(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &) {
  bool parts = call.row()->name.starts_with("comm.all_to_all"), counted = call.row()->Find("send_counts") >= 0;
  ir::ExprPtr source = call.Operand(parts ? "input" : "local"), target = call.Operand("target");
  int64_t rows = getConstantIntValue(indexOf(ir::ShapeOf(source->type_)->front())).value_or(1);
  enterGroup(op);
  int64_t held = elementsOf(source), each = parts ? held / ranks : held;
  if (each * ranks != (parts ? held : elementsOf(target)) || each * ranks > elementsOf(target))
    fail(op->span_, op->op_->name_ + ": " + nameOf(target) + " has " + std::to_string(elementsOf(target)) +
                        " elements, and " + nameOf(source) + " " + std::to_string(held) + ", for " +
                        std::to_string(ranks) + " ranks");
  if (counted)
    for (const char *name : {"send_counts", "recv_counts"})
      if (ir::ExprPtr counts = call.Operand(name);
          elementsOf(counts) < ranks || *ir::ElementTypeOf(counts->type_) != pypto::DataType::INT32)
        fail(op->span_, op->op_->name_ + ": " + nameOf(counts) + " needs an INT32 for each rank");
  meet(call.Operand("signal"), op);
  if (counted)
    publishCounts(call, each / std::max<int64_t>(1, held / std::max<int64_t>(1, rows)));
  Value from = pointerOf(valueOf(source));
  forEach(ValueRange{indexConstant(ranks)}, [&](ValueRange at) {
    Value to = moved(pointerOf(peersView(target, at[0])), rankIndex, each);
    copyRun(parts ? moved(from, at[0], each) : from, to, each, op);
  });
  meet(call.Operand("signal"), op);
  return valueOf(target);
}

Value Lowering::reduceScatter(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &) {
  ir::ExprPtr target = call.Operand("target");
  enterGroup(op);
  int64_t each = elementsOf(target) / ranks;
  if (each * ranks != elementsOf(target))
    fail(op->span_, nameOf(target) + " has no equal parts for " + std::to_string(ranks) + " ranks");
  meet(call.Operand("signal"), op);
  Value own = pointerOf(valueOf(target)), one = indexConstant(1);
  int64_t part = runLength(cast<pto::PtrType>(own.getType()).getElementType());
  for (int64_t begin = 0; begin < each; begin += part) {
    int64_t count = std::min(part, each - begin);
    Value sum = reducedRun(call, own, begin, count); // nobody else reads this part
    b.create<pto::TStoreOp>(loc, sum, runView(moved(moved(own, rankIndex, each), one, begin), count));
  }
  meet(call.Operand("signal"), op);
  return valueOf(target);
}

/// The sum is computed on one core, whatever number is asked for; the cells are held to what several would need.
void Lowering::checkCores(const ir::OpView &call, const ir::CallPtr &op) {
  int64_t cores = *call.Keyword<int64_t>("core_num");
  ir::ExprPtr signal = call.Operand("signal");
  if (cores == 1 || !signal)
    return;
  auto shape = *ir::ShapeOf(signal->type_);
  auto lanes = shape.size() == 2 ? getConstantIntValue(indexOf(shape[1])) : std::optional<int64_t>(1);
  if (cores < 1 || !lanes || *lanes < cores)
    fail(op->span_, "allreduce on " + std::to_string(cores) + " cores needs a signal of [ranks, " +
                        std::to_string(std::max<int64_t>(cores, 1)) + "] cells or more");
}

/// A copy is overwritten when all ranks have read it.
Value Lowering::reduceAll(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &) {
  ir::ExprPtr target = call.Operand("target");
  checkCores(call, op);
  int64_t all = elementsOf(target);
  meet(call.Operand("signal"), op);
  Value own = pointerOf(valueOf(target)), one = indexConstant(1);
  int64_t part = runLength(cast<pto::PtrType>(own.getType()).getElementType());
  for (int64_t begin = 0; begin < all; begin += part) {
    int64_t count = std::min(part, all - begin);
    Value sum = reducedRun(call, own, begin, count);
    meet(call.Operand("signal"), op);
    b.create<pto::TStoreOp>(loc, sum, runView(moved(own, one, begin), count));
  }
  return valueOf(target);
}

} // namespace pto_mlir::pypto_frontend
