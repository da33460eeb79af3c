#include "../Registry.h"
#include "Body.h"

using namespace mlir;

namespace pto_mlir::onnx {

// Unroll limit for loops whose iterations depend on the iteration number or whose tensors grow.
static constexpr int64_t kMaxUnrolled = 256;

namespace {
struct Loop {
  Node &node;
  const ::onnx::GraphProto &body;
  Value trips, condition;
  SmallVector<Value> carried;

  SmallVector<Type> argumentTypes() {
    OpBuilder &b = node.builder();
    SmallVector<Type> types{scalarInput(node, body, 0, b.getI64Type()), scalarInput(node, body, 1, b.getI1Type())};
    llvm::append_range(types, ValueRange(carried).getTypes());
    return types;
  }
  bool keepsTypes(Operation *op) {
    TypeRange yielded = op->getRegion(0).front().getTerminator()->getOperandTypes();
    return yielded.size() > carried.size() &&
           llvm::equal(yielded.slice(1, carried.size()), ValueRange(carried).getTypes());
  }
  std::optional<SmallVector<Value>> unroll(int64_t count);
  std::optional<SmallVector<Value>> unrollOpen(SmallVector<Value> values, Value go, int64_t trip);
  bool collect(ArrayRef<Value> made);
  std::optional<SmallVector<Value>> ends(ArrayRef<Value> values);

  SmallVector<SmallVector<Value>> rows = {}; // scan outputs: by output, then iteration
  SmallVector<Type> rowTypes = {};
};
} // namespace

// Concatenates rows along dimension 0.
static Value stack(Node &node, StringRef name, ArrayRef<Value> rows) {
  return rows.size() == 1 ? rows.front() : node.create<top::ConcatOp>(name, rows, {node.i64("axis", 0)});
}

// Unrolls the loop: each iteration is imported with a constant iteration number. Only tensors of the last one keep
// their names.
std::optional<SmallVector<Value>> Loop::unroll(int64_t count) {
  OpBuilder &b = node.builder();
  SmallVector<Value> values = carried;
  SmallVector<Type> types = argumentTypes();
  for (int64_t trip = 0; trip < count; ++trip) {
    SmallVector<Value> arguments{constantScalar(node, cast<RankedTensorType>(types[0]), trip),
                                 constantScalar(node, cast<RankedTensorType>(types[1]), 1)};
    llvm::append_range(arguments, values);
    Operation *before = arguments[1].getDefiningOp();
    auto results = node.importGraph(body, arguments);
    if (!results)
      return std::nullopt;
    if (results->size() < 1 + carried.size())
      return (void)node.error("carries " + Twine(carried.size()) + " tensors; its body gives " +
                              Twine(results->size())),
             std::nullopt;
    std::optional<top::Weight> next = top::getConstant(results->front());
    if (!next || next->type.getNumElements() != 1)
      return (void)node.error("shapes change from trip to trip, and the next condition is known at run time only"),
             std::nullopt;
    if (top::toInts(*next).front() == 0)
      count = trip + 1;
    // The builder appends, so all ops after `before` belong to this iteration.
    for (Operation *op = before; trip + 1 < count && op; op = op->getNextNode())
      op->walk([&](Operation *inner) { inner->setLoc(b.getUnknownLoc()); });
    values.assign(results->begin() + 1, results->begin() + 1 + carried.size());
    rows.resize(results->size() - 1 - carried.size());
    for (auto [i, row] : llvm::enumerate(ArrayRef(*results).drop_front(1 + carried.size()))) {
      SmallVector<int64_t> shape{1};
      llvm::append_range(shape, cast<RankedTensorType>(row.getType()).getShape());
      rows[i].push_back(node.reshape("", row, shape));
    }
  }
  for (auto [i, list] : llvm::enumerate(rows)) {
    unsigned output = carried.size() + i;
    if (node.wantsOutput(output))
      values.push_back(stack(node, node.outputName(output), list));
    else
      values.push_back(Value());
    if (node.wantsOutput(output) && !values.back())
      return std::nullopt;
  }
  return values;
}

// Collects the scan outputs of one iteration; their types must equal those of the first.
bool Loop::collect(ArrayRef<Value> made) {
  rows.resize(made.size());
  for (auto [list, value] : llvm::zip_equal(rows, made)) {
    SmallVector<int64_t> shape{1};
    llvm::append_range(shape, cast<RankedTensorType>(value.getType()).getShape());
    Value row = node.reshape("", value, shape);
    if (!row)
      return false;
    size_t i = &list - rows.begin();
    if (rowTypes.size() == i)
      rowTypes.push_back(row.getType());
    if (row.getType() != rowTypes[i])
      return (void)node.error("collects rows of different shapes"), false;
    list.push_back(row);
  }
  return true;
}

// The results of the loop if it ends after this iteration.
std::optional<SmallVector<Value>> Loop::ends(ArrayRef<Value> values) {
  SmallVector<Value> result(values);
  for (auto [i, row] : llvm::enumerate(rowTypes)) {
    auto type = cast<RankedTensorType>(row);
    SmallVector<int64_t> none(type.getShape());
    none.front() = 0;
    bool isNone = rows.size() <= i || rows[i].empty();
    result.push_back(isNone ? top::createConstant(node.builder(), node.builder().getUnknownLoc(), "",
                                                  RankedTensorType::get(none, type.getElementType()), {})
                            : stack(node, "", rows[i]));
    if (!result.back())
      return std::nullopt;
  }
  return result;
}

// Unrolls a loop with a computed condition and changing shapes: each iteration is nested in a top.if on the condition
// of the previous one, up to maxExtent iterations.
std::optional<SmallVector<Value>> Loop::unrollOpen(SmallVector<Value> values, Value go, int64_t trip) {
  OpBuilder &b = node.builder();
  SmallVector<Type> types = argumentTypes();
  auto scalar = [&](Value value) { return node.reshape("", value, {}); };
  Value index = constantScalar(node, RankedTensorType::get({}, b.getI64Type()), trip);
  Value inside = node.create<top::CompareOp>("", {index, scalar(trips)}, {node.named("mode", b.getStringAttr("lt"))});
  // The trip count is constant; only the condition is computed.
  if (std::optional<top::Weight> isInside = inside ? top::getConstant(inside) : std::nullopt;
      isInside && top::toInts(*isInside).front() == 0)
    return ends(values);
  Value more = inside ? node.create<top::AndOp>("", {inside, scalar(go)}) : Value();
  if (!more)
    return std::nullopt;
  auto stop = [&]() {
    Value over = node.create<top::NotOp>("", more);
    b.create<top::RequireOp>(
        b.getUnknownLoc(), over,
        b.getStringAttr("a loop whose tensors change their shapes takes more than " + Twine(trip) +
                        " trips, for which the model was compiled (model_transform --max_extent)"));
    return ends(values);
  };
  if (trip == node.maxExtent())
    return stop();
  Operation *op = makeControl(b, b.getUnknownLoc(), top::IfOp::getOperationName(), more, {}, 2);
  size_t reports = node.numReports();
  bool isTrip = false;
  {
    OpBuilder::InsertionGuard guard(b);
    b.createBlock(&op->getRegion(0));
    SmallVector<Value> arguments{constantScalar(node, cast<RankedTensorType>(types[0]), trip),
                                 constantScalar(node, cast<RankedTensorType>(types[1]), 1)};
    llvm::append_range(arguments, values);
    auto results = node.importGraph(body, arguments);
    if (results && results->size() < 1 + carried.size())
      return (void)node.error("carries " + Twine(carried.size()) + " tensors; its body gives " +
                              Twine(results->size())),
             std::nullopt;
    auto before = rows;
    if (results && !collect(ArrayRef(*results).drop_front(1 + carried.size())))
      results.reset();
    if (results) {
      op->getRegion(0).walk([&](Operation *inner) { inner->setLoc(b.getUnknownLoc()); });
      SmallVector<Value> next(results->begin() + 1, results->begin() + 1 + carried.size());
      auto finals = unrollOpen(next, results->front(), trip + 1);
      if (!finals)
        return std::nullopt;
      b.create<top::YieldOp>(b.getUnknownLoc(), *finals);
      isTrip = true;
    }
    rows = before;
  }
  if (!isTrip) {
    // An iteration that cannot be imported is assumed to be unreachable.
    if (trip == 0 || node.hasNeed())
      return std::nullopt;
    node.forget(op);
    op->erase();
    node.takeBack(reports);
    return stop();
  }
  {
    OpBuilder::InsertionGuard guard(b);
    b.createBlock(&op->getRegion(1));
    auto stopped = ends(values);
    if (!stopped)
      return std::nullopt;
    b.create<top::YieldOp>(b.getUnknownLoc(), *stopped);
  }
  return finishControl(node, op);
}

static LogicalResult importLoop(Node &node) {
  const ::onnx::GraphProto *body = node.graphAttr("body");
  if (!body)
    return failure();
  OpBuilder &b = node.builder();
  auto scalar = [&](Type element) { return RankedTensorType::get({}, element); };
  Loop loop{node, *body, {}, {}, {}};
  loop.trips = node.has(0) ? node.input(0) : constantScalar(node, scalar(b.getI64Type()), INT64_MAX);
  loop.condition = node.has(1) ? node.input(1) : constantScalar(node, scalar(b.getI1Type()), 1);
  for (unsigned i = 2; i < node.numInputs(); ++i) {
    if (!node.has(i))
      return node.error("input " + Twine(i) + " is missing");
    loop.carried.push_back(node.input(i));
  }
  SmallVector<Value> operands{loop.trips, loop.condition};
  llvm::append_range(operands, loop.carried);
  // A constant trip count allows unrolling, which makes shapes and slices that depend on the iteration number static.
  std::optional<top::Weight> trips = top::getConstant(loop.trips), first = top::getConstant(loop.condition);
  bool isKnown = trips && trips->type.getNumElements() == 1 && top::toInts(*trips).front() > 0 &&
                 top::toInts(*trips).front() <= kMaxUnrolled && first && first->type.getNumElements() == 1 &&
                 top::toInts(*first).front() != 0;
  Operation *op = makeControl(node, top::LoopOp::getOperationName(), operands, {}, 1);
  size_t reports = node.numReports();
  // A loop with a constant trip count needs no versions of its body.
  bool isBody = succeeded(importBody(node, op, 0, *body, loop.argumentTypes(), isKnown ? 0 : node.maxExtent() + 1));
  if (isBody ? !loop.keepsTypes(op) : isKnown) {
    b.setInsertionPointAfter(op);
    node.forget(op);
    op->erase();
    node.takeBack(reports);
    auto results =
        isKnown ? loop.unroll(top::toInts(*trips).front()) : loop.unrollOpen(loop.carried, loop.condition, 0);
    return results ? setOutputs(node, *results) : failure();
  }
  if (!isBody)
    return failure();
  auto results = finishControl(node, op);
  return results ? setOutputs(node, *results) : failure();
}

void registerLoop(Registry &registry) { registry.add("Loop", {7, kMaxOpset, 0, kVariadic, importLoop, kTakesStrings}); }

} // namespace pto_mlir::onnx
