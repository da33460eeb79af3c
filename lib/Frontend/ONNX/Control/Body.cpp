#include "Body.h"

#include "pto_mlir/Dialect/Top/IR/Control.h"

using namespace mlir;

namespace pto_mlir::onnx {

Operation *makeControl(OpBuilder &b, Location loc, StringRef opName, ValueRange operands,
                       ArrayRef<NamedAttribute> attributes, unsigned numRegions) {
  OperationState state(loc, opName, operands, TypeRange(), attributes);
  for (unsigned i = 0; i < numRegions; ++i)
    state.addRegion();
  return b.create(state);
}

Operation *makeControl(Node &node, StringRef opName, ValueRange operands, ArrayRef<NamedAttribute> attributes,
                       unsigned numRegions) {
  return makeControl(node.builder(), top::namedLoc(node.builder().getContext(), node.outputName()), opName, operands,
                     attributes, numRegions);
}

LogicalResult importBody(Node &node, Operation *op, unsigned region, const ::onnx::GraphProto &graph,
                         ArrayRef<Type> types, std::optional<int64_t> count) {
  OpBuilder &b = node.builder();
  OpBuilder::InsertionGuard guard(b);
  SmallVector<Location> locations;
  for (size_t i = 0; i < types.size(); ++i)
    locations.push_back(
        top::namedLoc(b.getContext(), static_cast<int>(i) < graph.input_size() ? graph.input(i).name() : ""));
  Block *block = b.createBlock(&op->getRegion(region), {}, types, locations);
  if (count)
    node.setCount(block->getArgument(0), *count);
  auto results = node.importGraph(graph, SmallVector<Value>(block->getArguments()));
  if (!results)
    return failure();
  b.setInsertionPointToEnd(block);
  b.create<top::YieldOp>(b.getUnknownLoc(), *results);
  return success();
}

std::optional<SmallVector<Value>> finishControl(OpBuilder &b, Operation *op,
                                                llvm::function_ref<void(const Twine &)> report) {
  auto types = top::inferControlTypes(op, report);
  if (failed(types)) {
    op->erase();
    return std::nullopt;
  }
  OperationState state(op->getLoc(), op->getName().getStringRef(), op->getOperands(), *types, op->getAttrs());
  for (Region &region : op->getRegions())
    state.addRegion()->takeBody(region);
  b.setInsertionPoint(op);
  Operation *finished = b.create(state);
  op->erase();
  b.setInsertionPointAfter(finished);
  return SmallVector<Value>(finished->getResults());
}

std::optional<SmallVector<Value>> finishControl(Node &node, Operation *op) {
  auto results = finishControl(node.builder(), op, [&](const Twine &reason) {
    node.forget(op);
    (void)node.error(reason);
  });
  if (results && !results->empty())
    node.noteShapes(results->front().getDefiningOp());
  return results;
}

LogicalResult setOutputs(Node &node, ArrayRef<Value> values) {
  if (values.size() < node.numOutputs())
    return node.error("has " + Twine(node.numOutputs()) + " outputs; its subgraph gives " + Twine(values.size()));
  for (unsigned i = 0; i < node.numOutputs(); ++i)
    if (node.wantsOutput(i))
      node.set(i, values[i]);
  return success();
}

Value constantScalar(Node &node, RankedTensorType type, int64_t value) {
  OpBuilder &b = node.builder();
  return top::createConstant(b, b.getUnknownLoc(), "", type, top::fromInts(type.getElementType(), value));
}

RankedTensorType scalarInput(Node &node, const ::onnx::GraphProto &graph, int index, Type element) {
  SmallVector<int64_t> shape;
  if (index < graph.input_size() && graph.input(index).type().tensor_type().shape().dim_size() == 1)
    shape.push_back(1);
  return RankedTensorType::get(shape, element);
}

} // namespace pto_mlir::onnx
