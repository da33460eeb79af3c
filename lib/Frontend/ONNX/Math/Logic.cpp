// Comparisons, logic on booleans, Where.
#include "../Composite.h"
#include "../Registry.h"

#include <cmath>
#include <limits>

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

// NaN is not equal to itself.
static LogicalResult importIsNaN(Node &node) {
  Value same = node.create<top::CompareOp>("", {node.input(0), node.input(0)},
                                           {node.named("mode", node.builder().getStringAttr("eq"))});
  return node.result<top::NotOp>(same);
}

static LogicalResult importIsInf(Node &node) {
  bool negative = node.intAttr("detect_negative", 1) != 0, positive = node.intAttr("detect_positive", 1) != 0;
  Value x = node.input(0);
  Formula f(node);
  if (negative && positive)
    x = f.of<top::AbsOp>(x);
  double infinity = std::numeric_limits<double>::infinity();
  // With neither, a comparison that never holds.
  Value other = !x ? x : negative || positive ? f.constant(x, positive ? infinity : -infinity) : f.constant(x, NAN);
  return node.result<top::CompareOp>({x, other}, {node.named("mode", node.builder().getStringAttr("eq"))});
}

static LogicalResult importWhere(Node &node) {
  if (!node.type(0).getElementType().isInteger(1))
    return node.error("takes booleans as its condition");
  return node.result<top::WhereOp>({node.input(0), node.input(1), node.input(2)});
}

void registerLogic(Registry &registry) {
  registry.add("Equal", {7, kMaxOpset, 2, 2, importEqual, kTakesStrings});
  registry.add("Less", {7, kMaxOpset, 2, 2, importLess});
  registry.add("LessOrEqual", {12, kMaxOpset, 2, 2, importLessOrEqual});
  registry.add("Greater", {7, kMaxOpset, 2, 2, importGreater});
  registry.add("GreaterOrEqual", {12, kMaxOpset, 2, 2, importGreaterOrEqual});
  registry.add("And", {7, kMaxOpset, 2, 2, importLogic<top::AndOp>});
  registry.add("Or", {7, kMaxOpset, 2, 2, importLogic<top::OrOp>});
  registry.add("Xor", {7, kMaxOpset, 2, 2, importLogic<top::XorOp>});
  registry.add("Not", {7, kMaxOpset, 1, 1, importLogic<top::NotOp>});
  registry.add("IsNaN", {9, kMaxOpset, 1, 1, importIsNaN});
  registry.add("IsInf", {10, kMaxOpset, 1, 1, importIsInf});
  registry.add("Where", {9, kMaxOpset, 3, 3, importWhere, kTakesStrings});
}

} // namespace pto_mlir::onnx
