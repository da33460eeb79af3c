#include "../Registry.h"
#include "Body.h"

using namespace mlir;

namespace pto_mlir::onnx {

// Trips that need their number, or whose tensors grow, are written one behind the other up to this many.
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
    return yielded.size() > carried.size() && llvm::equal(yielded.slice(1, carried.size()), ValueRange(carried).getTypes());
  }
  std::optional<SmallVector<Value>> unroll(int64_t count);
};
} // namespace

// Every trip is imported by itself, with a number that is known; only the last one's tensors keep their names.
std::optional<SmallVector<Value>> Loop::unroll(int64_t count) {
  OpBuilder &b = node.builder();
  SmallVector<Value> values = carried;
  SmallVector<SmallVector<Value>> rows; // by output, by trip
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
      return (void)node.error("carries " + Twine(carried.size()) + " tensors; its body gives " + Twine(results->size())), std::nullopt;
    std::optional<top::Weight> next = top::getConstant(results->front());
    if (!next || next->type.getNumElements() != 1)
      return (void)node.error("shapes change from trip to trip, and the next condition is known at run time only"), std::nullopt;
    if (top::toInts(*next).front() == 0)
      count = trip + 1;
    // The builder appends, so that all after it is this trip's.
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
      values.push_back(list.size() == 1 ? list.front() : node.create<top::ConcatOp>(node.outputName(output), list, {node.i64("axis", 0)}));
    else
      values.push_back(Value());
    if (node.wantsOutput(output) && !values.back())
      return std::nullopt;
  }
  return values;
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
  // A known number of trips, each with its own: what shapes or slices follow from the number, or grow, is known then.
  std::optional<top::Weight> trips = top::getConstant(loop.trips), first = top::getConstant(loop.condition);
  bool isKnown = trips && trips->type.getNumElements() == 1 && top::toInts(*trips).front() > 0 &&
                 top::toInts(*trips).front() <= kMaxUnrolled && first && first->type.getNumElements() == 1 && top::toInts(*first).front() != 0;
  Operation *op = makeControl(node, top::LoopOp::getOperationName(), operands, {}, 1);
  size_t reports = node.numReports();
  bool isBody = succeeded(importBody(node, op, 0, *body, loop.argumentTypes()));
  if (isKnown && (!isBody || !loop.keepsTypes(op))) {
    b.setInsertionPointAfter(op);
    op->erase();
    node.takeBack(reports);
    auto results = loop.unroll(top::toInts(*trips).front());
    return results ? setOutputs(node, *results) : failure();
  }
  if (!isBody)
    return failure();
  auto results = finishControl(node, op);
  return results ? setOutputs(node, *results) : failure();
}

void registerLoop(Registry &registry) { registry.add("Loop", {7, kMaxOpset, 0, kVariadic, importLoop}); }

} // namespace pto_mlir::onnx
