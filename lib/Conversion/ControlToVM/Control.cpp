// Lowers regions of control-flow ops to blocks.
#include "pto_mlir/Dialect/Top/IR/Control.h"
#include "Splitter.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace pto_mlir::control_to_vm {

// The predicate slt of vm.compare.
static constexpr int64_t kLess = 2;

LogicalResult Splitter::emitBlock(Block &block) {
  SmallVector<Operation *> pending;
  for (Operation *op : scheduled(block)) {
    if (!top::isControlFlow(op)) {
      if (!emitScalar(op))
        pending.push_back(op);
      continue;
    }
    if (failed(emitNet(pending)))
      return failure();
    pending.clear();
    LogicalResult done = llvm::TypeSwitch<Operation *, LogicalResult>(op)
                             .Case([&](top::IfOp branch) { return emitIf(branch); })
                             .Case([&](top::LoopOp loop) { return emitLoop(loop); })
                             .Case([&](top::ScanOp scan) { return emitScan(scan); })
                             .Default([&](Operation *other) { return emitSizes(other), success(); });
    if (failed(done))
      return failure();
  }
  return emitNet(pending, /*isLast=*/&block == &main.getBody().front());
}

void Splitter::emitSizes(Operation *op) {
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](top::DimOp dim) {
        held[dim.getOutput()] = {Value(),
                                 b.create<vm::DimOp>(loc, b.getI64Type(), tensor(dim.getSource()), dim.getAxis())};
      })
      .Case([&](top::AssumeOp assume) {
        held[assume.getOutput()] = {as(assume.getType(), tensor(assume.getSource())), Value()};
      })
      .Case([&](top::RequireOp require) {
        b.create<vm::AssertOp>(loc, number(require.getCondition()), require.getMessage());
      })
      .Case([&](top::HostOp host) {
        SmallVector<Value> operands;
        for (Value input : host.getInputs())
          operands.push_back(tensor(input));
        auto call =
            b.create<vm::CallOp>(loc, host.getType(), ("host." + host.getKernel()).str(), operands, IntegerAttr());
        if (DictionaryAttr parameters = host.getParametersAttr())
          call->setDiscardableAttrs(parameters);
        held[host.getOutput()] = {call.getResult(0), Value()};
      })
      .Case([&](top::NonZeroOp op) {
        held[op.getOutput()] = {
            b.create<vm::CallOp>(loc, op.getType(), "host.nonzero", tensor(op.getSource()), IntegerAttr()).getResult(0),
            Value()};
      });
}

Block *Splitter::addBlock(TypeRange types) {
  return b.createBlock(&program.getBody(), program.getBody().end(), types, SmallVector<Location>(types.size(), loc));
}

Value Splitter::as(Type type, Value tensor) {
  return tensor.getType() == type ? tensor : b.create<vm::CastOp>(loc, type, tensor).getResult();
}

void Splitter::put(Value tensor, Value index, Value row) {
  b.create<vm::CallOp>(loc, TypeRange(), "host.put", ValueRange{tensor, index, row}, IntegerAttr());
}

Value Splitter::collected(Operation *op, Type type) {
  auto tensor = cast<RankedTensorType>(type);
  if (llvm::any_of(tensor.getShape().drop_front(), ShapedType::isDynamic)) {
    op->emitError() << "collects rows with an extent that is known at run time only";
    return {};
  }
  SmallVector<Value> extents;
  if (tensor.isDynamicDim(0))
    extents.push_back(constant(b.getI64Type(), 0));
  return b.create<vm::NewOp>(loc, type, extents);
}

LogicalResult Splitter::emitIf(top::IfOp op) {
  Value condition = number(op.getCondition());
  Block *here = b.getInsertionBlock(), *then = addBlock({}), *other = addBlock({}),
        *join = addBlock(op.getResultTypes());
  b.setInsertionPointToEnd(here);
  b.create<vm::CondBranchOp>(loc, condition, ValueRange(), ValueRange(), then, other);
  for (auto [block, region] : {std::pair(then, &op.getThenRegion()), std::pair(other, &op.getElseRegion())}) {
    b.setInsertionPointToStart(block);
    if (failed(emitBlock(region->front())))
      return failure();
    SmallVector<Value> results;
    for (auto [value, type] : llvm::zip_equal(region->front().getTerminator()->getOperands(), op.getResultTypes()))
      results.push_back(as(type, tensor(value)));
    b.create<vm::BranchOp>(loc, results, join);
  }
  b.setInsertionPointToStart(join);
  for (auto [result, value] : llvm::zip_equal(op.getResults(), join->getArguments()))
    held[result] = {value, Value()};
  return success();
}

LogicalResult Splitter::emitLoop(top::LoopOp op) {
  Block &body = op.getBody().front();
  Operation *yield = body.getTerminator();
  size_t carried = op.getCarried().size();
  std::optional<int64_t> count = op.constantTrips();
  Value trips = count ? constant(b.getI64Type(), *count) : number(op.getTrips());
  // Loop-carried values: the iteration number, the condition (unless constant true), the carried tensors, the scan
  // outputs.
  SmallVector<Value> initial{constant(b.getI64Type(), 0)}, whole;
  if (!count)
    initial.push_back(number(op.getCondition()));
  size_t first = initial.size();
  for (Value value : op.getCarried())
    initial.push_back(tensor(value));
  for (Value result : op.getResults().drop_front(carried)) {
    Value rows = collected(op, result.getType());
    if (!rows)
      return failure();
    (count ? whole : initial).push_back(rows);
  }
  Block *here = b.getInsertionBlock(), *header = addBlock(ValueRange(initial).getTypes()), *trip = addBlock({}),
        *after = addBlock({});
  b.setInsertionPointToEnd(here);
  b.create<vm::BranchOp>(loc, initial, header);
  b.setInsertionPointToStart(header);
  Value index = header->getArgument(0);
  Value more = b.create<vm::CompareOp>(loc, b.getI1Type(), kLess, index, trips);
  if (!count)
    more = b.create<vm::BinaryOp>(loc, b.getI1Type(), "iand", more, header->getArgument(1));
  b.create<vm::CondBranchOp>(loc, more, ValueRange(), ValueRange(), trip, after);

  b.setInsertionPointToStart(trip);
  held[body.getArgument(0)] = {Value(), index};
  held[body.getArgument(1)] = {Value(), count ? constant(b.getI1Type(), 1) : header->getArgument(1)};
  for (auto [argument, value] :
       llvm::zip_equal(body.getArguments().drop_front(2), header->getArguments().slice(first, carried)))
    held[argument] = {value, Value()};
  if (failed(emitBlock(body)))
    return failure();
  SmallVector<Value> next{b.create<vm::BinaryOp>(loc, b.getI64Type(), "iadd", index, constant(b.getI64Type(), 1))};
  for (Value value : yield->getOperands().slice(1, carried))
    next.push_back(tensor(value));
  for (auto [i, value] : llvm::enumerate(yield->getOperands().drop_front(1 + carried))) {
    Value row = tensor(value);
    if (count) {
      put(whole[i], index, row);
      continue;
    }
    Value rows = header->getArgument(first + carried + i);
    next.push_back(
        b.create<vm::CallOp>(loc, rows.getType(), "host.append", ValueRange{rows, row}, IntegerAttr()).getResult(0));
  }
  // Read the condition last, so that device launches may overlap with the wait for it.
  if (!count)
    next.insert(next.begin() + 1, number(yield->getOperand(0)));
  b.create<vm::BranchOp>(loc, next, header);

  b.setInsertionPointToStart(after);
  for (auto [i, result] : llvm::enumerate(op.getResults()))
    held[result] = {i >= carried && count ? whole[i - carried] : header->getArgument(first + i), Value()};
  return success();
}

LogicalResult Splitter::emitScan(top::ScanOp op) {
  Block &body = op.getBody().front();
  size_t states = op.getStates();
  SmallVector<Value> initial{constant(b.getI64Type(), 0)}, scanned, made;
  for (auto [i, value] : llvm::enumerate(op.getInputs()))
    (i < states ? initial : scanned).push_back(tensor(value));
  for (Value result : op.getResults().drop_front(states)) {
    made.push_back(collected(op, result.getType()));
    if (!made.back())
      return failure();
  }
  int64_t length = cast<RankedTensorType>(scanned.front().getType()).getDimSize(0);
  Value count = constant(b.getI64Type(), length);
  Block *here = b.getInsertionBlock(), *header = addBlock(ValueRange(initial).getTypes()), *trip = addBlock({}),
        *after = addBlock({});
  b.setInsertionPointToEnd(here);
  b.create<vm::BranchOp>(loc, initial, header);
  b.setInsertionPointToStart(header);
  Value index = header->getArgument(0);
  Value more = b.create<vm::CompareOp>(loc, b.getI1Type(), kLess, index, count);
  b.create<vm::CondBranchOp>(loc, more, ValueRange(), ValueRange(), trip, after);

  b.setInsertionPointToStart(trip);
  auto has = [](ArrayRef<int64_t> directions) {
    return llvm::any_of(directions, [](int64_t reversed) { return reversed != 0; });
  };
  Value fromEnd;
  if (has(op.getReversedInputs()) || has(op.getReversedOutputs()))
    fromEnd = b.create<vm::BinaryOp>(loc, b.getI64Type(), "isub", constant(b.getI64Type(), length - 1), index);
  for (auto [argument, value] : llvm::zip(body.getArguments(), header->getArguments().drop_front()))
    held[argument] = {value, Value()};
  for (auto [argument, value, reversed] :
       llvm::zip_equal(body.getArguments().drop_front(states), scanned, op.getReversedInputs()))
    held[argument].tensor = b.create<vm::CallOp>(loc, argument.getType(), "host.row",
                                                 ValueRange{value, reversed ? fromEnd : index}, IntegerAttr())
                                .getResult(0);
  if (failed(emitBlock(body)))
    return failure();
  auto yielded = body.getTerminator()->getOperands();
  SmallVector<Value> next{b.create<vm::BinaryOp>(loc, b.getI64Type(), "iadd", index, constant(b.getI64Type(), 1))};
  for (Value value : yielded.take_front(states))
    next.push_back(tensor(value));
  for (auto [value, rows, reversed] : llvm::zip_equal(yielded.drop_front(states), made, op.getReversedOutputs()))
    put(rows, reversed ? fromEnd : index, tensor(value));
  b.create<vm::BranchOp>(loc, next, header);

  b.setInsertionPointToStart(after);
  for (auto [i, result] : llvm::enumerate(op.getResults()))
    held[result] = {i < states ? header->getArgument(1 + i) : made[i - states], Value()};
  return success();
}

} // namespace pto_mlir::control_to_vm
