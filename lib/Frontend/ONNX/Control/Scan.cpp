#include "../Registry.h"
#include "Body.h"
#include "pto_mlir/Dialect/Top/IR/Control.h"

using namespace mlir;

namespace pto_mlir::onnx {

// Moves dimension `axis` to the front, or (`isBack`) the first dimension to `axis`.
static Value moveAxis(Node &node, StringRef name, Value value, int64_t axis, bool isBack) {
  SmallVector<int64_t> perm = llvm::to_vector(llvm::seq<int64_t>(0, cast<RankedTensorType>(value.getType()).getRank()));
  if (axis == 0)
    return value;
  perm.erase(perm.begin() + (isBack ? 0 : axis));
  perm.insert(perm.begin() + (isBack ? axis : 0), isBack ? 0 : axis);
  return node.create<top::PermuteOp>(name, value, {node.i64s("perm", perm)});
}

// An attribute with `count` integers; zeros when absent.
static std::optional<SmallVector<int64_t>> list(Node &node, StringRef name, size_t count) {
  std::optional<SmallVector<int64_t>> values = node.intsAttr(name);
  if (!values)
    return SmallVector<int64_t>(count, 0);
  if (values->size() == count)
    return values;
  (void)node.error("attribute '" + name + "' has " + Twine(values->size()) + " numbers, expects " + Twine(count));
  return std::nullopt;
}

static LogicalResult importScan(Node &node) {
  const ::onnx::GraphProto *body = node.graphAttr("body");
  int64_t count = node.numInputs(), scanned = node.intAttr("num_scan_inputs", 0);
  int64_t states = count - std::clamp<int64_t>(scanned, 0, count);
  if (!body)
    return failure();
  if (scanned < 1 || scanned > count || body->output_size() < states)
    return node.error("scans " + Twine(scanned) + " of " + Twine(count) + " inputs; its body gives " +
                      Twine(body->output_size()));
  size_t made = body->output_size() - states;
  auto inputAxes = list(node, "scan_input_axes", scanned), outputAxes = list(node, "scan_output_axes", made);
  auto inputDirections = list(node, "scan_input_directions", scanned),
       outputDirections = list(node, "scan_output_directions", made);
  if (!inputAxes || !outputAxes || !inputDirections || !outputDirections)
    return failure();
  SmallVector<Value> operands;
  SmallVector<Type> types;
  for (int64_t i = 0; i < count; ++i) {
    if (!node.has(i))
      return node.error("input " + Twine(i) + " is missing");
    operands.push_back(node.input(i));
    if (i < states) {
      types.push_back(operands.back().getType());
      continue;
    }
    std::optional<int64_t> axis = node.axis((*inputAxes)[i - states], node.type(i).getRank());
    if (!axis)
      return failure();
    operands.back() = moveAxis(node, "", operands.back(), *axis, /*isBack=*/false);
    if (!operands.back())
      return failure();
    types.push_back(top::rowType(operands.back().getType()));
  }
  Operation *op = makeControl(node, top::ScanOp::getOperationName(), operands,
                              {node.i64("states", states), node.i64s("reversed_inputs", *inputDirections),
                               node.i64s("reversed_outputs", *outputDirections)},
                              1);
  if (failed(importBody(node, op, 0, *body, types)))
    return failure();
  auto results = finishControl(node, op);
  if (!results)
    return failure();
  for (size_t i = 0; i < made; ++i) {
    Value &value = (*results)[states + i];
    std::optional<int64_t> axis = node.axis((*outputAxes)[i], cast<RankedTensorType>(value.getType()).getRank());
    value = axis ? moveAxis(node, node.outputName(states + i), value, *axis, /*isBack=*/true) : Value();
    if (!value)
      return failure();
  }
  return setOutputs(node, *results);
}

// Scan 8, with a batch dimension and sequence lengths, is not supported: exporters do not emit it.
void registerScan(Registry &registry) { registry.add("Scan", {9, kMaxOpset, 1, kVariadic, importScan}); }

} // namespace pto_mlir::onnx
