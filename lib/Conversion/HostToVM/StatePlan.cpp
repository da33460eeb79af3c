#include "StatePlan.h"

#include "pto_mlir/Dialect/Top/IR/Constants.h"
#include "pto_mlir/Dialect/Top/IR/Names.h"
#include "pto_mlir/Dialect/Top/IR/Slices.h"
#include "pto_mlir/Dialect/Top/IR/State.h"
#include "pto_mlir/Dialect/VM/IR/VM.h"
#include "pto_mlir/PModel/Model.h"
#include "pto_mlir/Support/MathExtras.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <set>

#define DEBUG_TYPE "plan-global-memory"
#include "pto_mlir/Dialect/DebugLog.h"

using namespace mlir;

namespace pto_mlir {

Value memoryOf(Value value) {
  while (isa_and_nonnull<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp, tensor::ExtractSliceOp>(
      value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  return value;
}

/// Where the columns of a tensor at `place` lie.
static top::PlaceAttr placeIn(top::PlaceAttr place, tensor::ExtractSliceOp slice) {
  auto columns = top::columnsOf(slice);
  int64_t element = top::elementBytes(slice.getType().getElementType());
  int64_t offset = place.getOffset() + top::beginOf(slice) * element;
  if (top::firstOfPiece(slice) || !columns)
    return top::PlaceAttr::get(place.getContext(), place.getRegion(), offset);
  int64_t own = columns->row * element, between = columns->rows - 1;
  int64_t pitch = place.getSpan() ? (place.getSpan() - own) / between : own;
  return top::PlaceAttr::get(place.getContext(), place.getRegion(), offset, between * pitch + columns->size * element);
}

top::PlaceAttr placeIn(top::PlaceAttr place, Value value) {
  if (value == memoryOf(value))
    return place;
  Operation *op = value.getDefiningOp();
  place = placeIn(place, op->getOperand(0));
  auto slice = dyn_cast<tensor::ExtractSliceOp>(op);
  return slice ? placeIn(place, slice) : place;
}

namespace {

/// The state, or earlier write to it, that a result of a launch is written into; null for a result of its own.
Value writtenInto(OpResult result) {
  auto launch = dyn_cast<top::LaunchOp>(result.getOwner());
  Value init = launch ? memoryOf(launch.getInits()[result.getResultNumber()]) : Value();
  return init && (top::isState(init) || init.getDefiningOp<top::LaunchOp>()) ? init : Value();
}

bool reads(Operation &op, Value memory) {
  auto launch = dyn_cast<top::LaunchOp>(op);
  return launch && llvm::any_of(launch.getInputs(), [&](Value input) { return memoryOf(input) == memory; });
}

/// Emits the ops of a block in their order, but each behind those that it has to wait for.
class Sorter {
public:
  explicit Sorter(Block &block) : block(block) {
    for (Operation &op : block.without_terminator())
      number[&op] = ops.size(), ops.push_back(&op);
    waits.resize(ops.size()), followers.resize(ops.size());
    for (Operation *op : ops)
      for (Value operand : op->getOperands())
        if (operand.getDefiningOp())
          order(operand.getDefiningOp(), op);
  }
  void order(Operation *first, Operation *second) {
    followers[number[first]].push_back(number[second]);
    ++waits[number[second]];
  }
  /// The first op that waits for itself; null after success.
  Operation *run() {
    std::set<unsigned> ready;
    for (unsigned i = 0; i < ops.size(); ++i)
      if (waits[i] == 0)
        ready.insert(i);
    size_t done = 0;
    for (; !ready.empty(); ++done) {
      unsigned next = *ready.begin();
      ready.erase(ready.begin());
      ops[next]->moveBefore(block.getTerminator());
      for (unsigned follower : followers[next])
        if (--waits[follower] == 0)
          ready.insert(follower);
    }
    for (unsigned i = 0; i < ops.size() && done != ops.size(); ++i)
      if (waits[i] != 0)
        return ops[i];
    return nullptr;
  }

private:
  Block &block;
  SmallVector<Operation *> ops;
  llvm::DenseMap<Operation *, unsigned> number;
  std::vector<unsigned> waits;
  std::vector<SmallVector<unsigned>> followers;
};

/// Whether the launch of `value` may write it over the old value of `state`.
bool mayReplace(Value value, BlockArgument state) {
  Operation *writer = value.getDefiningOp();
  for (Operation &op : *writer->getBlock())
    if (reads(op, state) && !op.isBeforeInBlock(writer))
      return false;
  return true;
}

} // namespace

LogicalResult orderStateWrites(func::FuncOp main) {
  Block &block = main.getBody().front();
  SmallVector<std::pair<Operation *, Operation *>> late; // what reads, what writes
  for (Operation &op : block)
    for (OpResult result : op.getResults())
      if (Value before = writtenInto(result))
        for (Operation &reader : block)
          if (&reader != &op && reads(reader, before))
            late.push_back({&reader, &op});
  if (llvm::all_of(late, [](auto &pair) { return pair.first->isBeforeInBlock(pair.second); }))
    return success();
  Sorter sorter(block);
  for (auto [reader, writer] : late)
    sorter.order(reader, writer);
  Operation *stuck = sorter.run();
  if (!stuck)
    return success();
  for (auto [reader, writer] : late)
    if (!reader->isBeforeInBlock(writer))
      return reader->emitError() << "reads the state '" << top::getTensorName(memoryOf(writer->getOperands().back()))
                                 << "' as it was before the run, and needs what '"
                                 << top::getTensorName(writer->getLoc())
                                 << "' writes into it; read the new value, or leave the pair out of --state";
  return stuck->emitError("waits for itself");
}

namespace {

/// Lays out the states of @main one after the other.
class StatePlacer {
public:
  StatePlacer(func::FuncOp main, llvm::DenseMap<Value, top::PlaceAttr> &places)
      : main(main), places(places), b(main.getContext()) {}

  LogicalResult run() {
    for (BlockArgument argument : main.getArguments()) {
      if (main.getArgAttr(argument.getArgNumber(), top::kStatePositionAttr))
        places[argument] = place(0);
      else if (top::isState(argument) && failed(add(argument)))
        return failure();
    }
    auto number = [&](StringRef attribute) {
      auto value = main->getAttrOfType<IntegerAttr>(attribute);
      return b.getI64IntegerAttr(value ? value.getInt() : 0);
    };
    if (tensors.empty())
      return success();
    SmallVector<NamedAttribute> state{
        b.getNamedAttr("bytes", b.getI64IntegerAttr(bytes)), b.getNamedAttr("rows", number(top::kStateRowsAttr)),
        b.getNamedAttr("limit", number(top::kStateLimitAttr)), b.getNamedAttr("tensors", b.getArrayAttr(tensors))};
    if (Attribute group = main->getAttr(top::kStateGroupAttr))
      state.push_back(b.getNamedAttr("group", group));
    main->setAttr(vm::kStateAttr, b.getDictionaryAttr(state));
    return success();
  }

private:
  top::PlaceAttr place(int64_t offset) { return top::PlaceAttr::get(b.getContext(), top::Region::State, offset); }

  LogicalResult add(BlockArgument state) {
    unsigned number = state.getArgNumber();
    StringRef name = top::getTensorName(state), output;
    Value value;
    for (OpOperand &result : main.getBody().front().getTerminator()->getOpOperands())
      if (unsigned i = result.getOperandNumber(); top::stateOfResult(main, i) == number) {
        value = memoryOf(result.get());
        output = main.getResultAttrOfType<StringAttr>(i, top::kNameAttr).getValue();
      }
    auto shared = main.getArgAttrOfType<StringAttr>(number, top::kStateNewAttr);
    if (shared)
      output = shared.getValue();
    int64_t size =
        roundUp<int64_t>(*top::tensorBytes(cast<RankedTensorType>(state.getType())), pmodel::kStateAlignment);
    places[state] = place(bytes);
    // The nets of a program read a state in one place whichever of them replaces it.
    int64_t least = shared && !output.empty() && *top::stateAxis(main, number) < 0 ? 2 : 1;
    FailureOr<int64_t> count =
        value && value != state ? placeValue(state, value, size, least) : FailureOr<int64_t>(least);
    if (failed(count))
      return failure();
    tensors.push_back(b.getDictionaryAttr(
        {b.getNamedAttr("name", b.getStringAttr(name)), b.getNamedAttr("output", b.getStringAttr(output)),
         b.getNamedAttr("type", TypeAttr::get(state.getType())),
         b.getNamedAttr("axis", b.getI64IntegerAttr(*top::stateAxis(main, number))),
         b.getNamedAttr("offset", b.getI64IntegerAttr(bytes)), b.getNamedAttr("places", b.getI64IntegerAttr(*count))}));
    bytes += *count * size;
    return success();
  }

  /// Places the new value of a state of `size` bytes; the number of places of the tensor, at least `least`.
  FailureOr<int64_t> placeValue(BlockArgument state, Value value, int64_t size, int64_t least) {
    StringRef name = top::getTensorName(state);
    auto refuse = [&](StringRef reason) {
      main.emitError() << "the new value of state '" << name << "' " << reason;
      return failure();
    };
    if (!value.getDefiningOp<top::LaunchOp>())
      return refuse("is an input or a constant");
    SmallVector<Value> writes; // of rows, the last one first
    Value before = value;
    for (; before != state && before.getDefiningOp<top::LaunchOp>(); before = writtenInto(cast<OpResult>(before))) {
      writes.push_back(before);
      if (!writtenInto(cast<OpResult>(before)))
        break;
    }
    bool inPlace = before == state;
    if (!inPlace && (writes.size() != 1 || *top::stateAxis(main, state.getArgNumber()) >= 0))
      return refuse("is not made of it by writing rows");
    int64_t count = inPlace ? 1 : mayReplace(value, state) ? least : 2;
    PTO_DEBUG("state '" << name << "': "
                        << (inPlace      ? "rows are written in place"
                            : count == 2 ? "two places"
                                         : "replaced in place"));
    for (Value write : writes)
      if (!places.try_emplace(write, place(bytes + (count - 1) * size)).second)
        return refuse("is that of another state as well");
    return count;
  }

  func::FuncOp main;
  llvm::DenseMap<Value, top::PlaceAttr> &places;
  Builder b;
  int64_t bytes = pmodel::kStateHeaderBytes;
  SmallVector<Attribute> tensors;
};

} // namespace

LogicalResult placeStates(func::FuncOp main, llvm::DenseMap<Value, top::PlaceAttr> &places) {
  return StatePlacer(main, places).run();
}

} // namespace pto_mlir
