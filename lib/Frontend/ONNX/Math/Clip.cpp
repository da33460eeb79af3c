// Clip: limits as attributes before opset 11, as inputs since.
#include "../Exact.h"
#include "../Registry.h"

using namespace mlir;

namespace pto_mlir::onnx {

static LogicalResult importClipAttributes(Node &node) {
  SmallVector<NamedAttribute> limits;
  for (StringRef name : {"min", "max"})
    if (node.attr(name))
      limits.push_back(node.f64(name, node.floatAttr(name, 0)));
  return node.result<top::ClipOp>(node.input(0), limits);
}

static LogicalResult importClip(Node &node) {
  SmallVector<NamedAttribute> limits;
  // (is the minimum, value): limits that top.clip cannot hold.
  SmallVector<std::pair<bool, Value>> computed;
  for (unsigned i : {1, 2}) {
    if (!node.has(i))
      continue;
    std::optional<top::Weight> limit = node.constant(i);
    if (!limit || (isa<IntegerType>(limit->type.getElementType()) && !isExactAsDouble(*limit))) {
      computed.push_back({i == 1, node.input(i)});
      continue;
    }
    std::vector<double> value = top::toDoubles(*limit);
    if (value.size() != 1)
      return node.error("limits must be scalars");
    limits.push_back(node.f64(i == 1 ? "min" : "max", value.front()));
  }
  if (computed.empty() && limits.empty())
    return node.finish(node.input(0));
  if (computed.empty())
    return node.result<top::ClipOp>(node.input(0), limits);
  // Apply the minimum first, as the operator is defined.
  Value value = node.input(0);
  if (!limits.empty() && !computed.front().first)
    value = node.create<top::ClipOp>("", value, limits);
  for (auto [isMin, limit] : computed) {
    bool last = limit == computed.back().second && (limits.empty() || !computed.front().first);
    StringRef name = last ? node.outputName() : "";
    if (!value)
      return failure();
    value = isMin ? node.create<top::MaxOp>(name, {value, limit}) : node.create<top::MinOp>(name, {value, limit});
  }
  if (!limits.empty() && computed.front().first)
    value = node.create<top::ClipOp>(node.outputName(), value, limits);
  return node.finish(value);
}

void registerClip(Registry &registry) {
  registry.add("Clip", {7, 10, 1, 1, importClipAttributes});
  registry.add("Clip", {11, kMaxOpset, 1, 3, importClip});
}

} // namespace pto_mlir::onnx
