#include "../Registry.h"

using namespace mlir;

namespace pto_mlir::onnx {

static LogicalResult importConcat(Node &node) {
  if (!node.attr("axis"))
    return node.error("lacks attribute 'axis'");
  std::optional<int64_t> axis = node.axis(node.intAttr("axis", 0), node.type(0).getRank());
  if (!axis)
    return failure();
  if (node.numInputs() == 1)
    return node.finish(node.input(0));
  if (node.appendsToState(0)) {
    SmallVector<Value> rows;
    for (unsigned i = 1; i < node.numInputs(); ++i)
      rows.push_back(node.input(i));
    Value added = rows.size() == 1 ? rows[0] : node.create<top::ConcatOp>("", rows, {node.i64("axis", *axis)});
    return node.finish(node.appendToState(node.outputName(), 0, added, *axis));
  }
  SmallVector<Value> inputs;
  for (unsigned i = 0; i < node.numInputs(); ++i) {
    if (!node.has(i))
      return node.error("input " + Twine(i) + " is missing");
    inputs.push_back(node.input(i));
  }
  return node.result<top::ConcatOp>(inputs, {node.i64("axis", *axis)});
}

void registerConcat(Registry &registry) {
  registry.add("Concat", {7, kMaxOpset, 1, kVariadic, importConcat, kTakesStrings});
}

} // namespace pto_mlir::onnx
