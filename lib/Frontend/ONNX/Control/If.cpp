#include "../Registry.h"
#include "Body.h"

using namespace mlir;

namespace pto_mlir::onnx {

static LogicalResult importIf(Node &node) {
  const ::onnx::GraphProto *branches[] = {node.graphAttr("then_branch"), node.graphAttr("else_branch")};
  if (!branches[0] || !branches[1])
    return failure();
  if (node.type(0).getNumElements() != 1 || !node.type(0).getElementType().isInteger(1))
    return node.error("the condition must be one boolean");
  // A constant condition (exporters leave tests of shapes in the graph) selects the branch at import.
  if (std::optional<top::Weight> condition = node.constant(0)) {
    auto results = node.importGraph(top::toInts(*condition).front() ? *branches[0] : *branches[1], {});
    return results ? setOutputs(node, *results) : failure();
  }
  Operation *op = makeControl(node, top::IfOp::getOperationName(), node.input(0), {}, 2);
  for (unsigned i = 0; i < 2; ++i)
    if (failed(importBody(node, op, i, *branches[i], {})))
      return failure();
  auto results = finishControl(node, op);
  return results ? setOutputs(node, *results) : failure();
}

void registerIf(Registry &registry) { registry.add("If", {7, kMaxOpset, 1, 1, importIf, kTakesStrings}); }

} // namespace pto_mlir::onnx
