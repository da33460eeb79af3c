// Comparisons, logic on booleans, Where.
#include "../Registry.h"

using namespace mlir;

namespace pto_mlir::onnx {

static Value compare(Node &node, StringRef mode, StringRef name) {
  return node.create<top::CompareOp>(name, {node.input(0), node.input(1)},
                                     {node.named("mode", node.builder().getStringAttr(mode))});
}

static LogicalResult importEqual(Node &node) { return node.finish(compare(node, "eq", node.outputName())); }
static LogicalResult importLess(Node &node) { return node.finish(compare(node, "lt", node.outputName())); }
static LogicalResult importLessOrEqual(Node &node) { return node.finish(compare(node, "le", node.outputName())); }
static LogicalResult importGreater(Node &node) { return node.finish(compare(node, "gt", node.outputName())); }
static LogicalResult importGreaterOrEqual(Node &node) { return node.finish(compare(node, "ge", node.outputName())); }

template <typename OpTy> static LogicalResult importLogic(Node &node) {
  for (unsigned i = 0; i < node.numInputs(); ++i)
    if (!node.type(i).getElementType().isInteger(1))
      return node.error("takes booleans");
  SmallVector<Value> operands;
  for (unsigned i = 0; i < node.numInputs(); ++i)
    operands.push_back(node.input(i));
  return node.result<OpTy>(operands);
}

static LogicalResult importWhere(Node &node) {
  if (!node.type(0).getElementType().isInteger(1))
    return node.error("takes booleans as its condition");
  return node.result<top::WhereOp>({node.input(0), node.input(1), node.input(2)});
}

void registerLogic(Registry &registry) {
  registry.add("Equal", {7, kMaxOpset, 2, 2, importEqual});
  registry.add("Less", {7, kMaxOpset, 2, 2, importLess});
  registry.add("LessOrEqual", {12, kMaxOpset, 2, 2, importLessOrEqual});
  registry.add("Greater", {7, kMaxOpset, 2, 2, importGreater});
  registry.add("GreaterOrEqual", {12, kMaxOpset, 2, 2, importGreaterOrEqual});
  registry.add("And", {7, kMaxOpset, 2, 2, importLogic<top::AndOp>});
  registry.add("Or", {7, kMaxOpset, 2, 2, importLogic<top::OrOp>});
  registry.add("Xor", {7, kMaxOpset, 2, 2, importLogic<top::XorOp>});
  registry.add("Not", {7, kMaxOpset, 1, 1, importLogic<top::NotOp>});
  registry.add("Where", {9, kMaxOpset, 3, 3, importWhere});
}

} // namespace pto_mlir::onnx
