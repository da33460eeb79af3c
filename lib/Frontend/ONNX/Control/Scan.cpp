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

// The scan of `operands`, of which the first `states` are states and the others have their rows in front; the results
// have, too.
static std::optional<SmallVector<Value>> scan(Node &node, const ::onnx::GraphProto &body, ValueRange operands,
                                              int64_t states, ArrayRef<int64_t> inputDirections,
                                              ArrayRef<int64_t> outputDirections) {
  SmallVector<Type> types;
  for (auto [i, operand] : llvm::enumerate(operands))
    types.push_back(static_cast<int64_t>(i) < states ? operand.getType() : top::rowType(operand.getType()));
  Operation *op = makeControl(node, top::ScanOp::getOperationName(), operands,
                              {node.i64("states", states), node.i64s("reversed_inputs", inputDirections),
                               node.i64s("reversed_outputs", outputDirections)},
                              1);
  if (failed(importBody(node, op, 0, body, types)))
    return std::nullopt;
  return finishControl(node, op);
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
  for (int64_t i = 0; i < count; ++i) {
    if (!node.has(i))
      return node.error("input " + Twine(i) + " is missing");
    operands.push_back(node.input(i));
    if (i < states)
      continue;
    std::optional<int64_t> axis = node.axis((*inputAxes)[i - states], node.type(i).getRank());
    if (!axis)
      return failure();
    operands.back() = moveAxis(node, "", operands.back(), *axis, /*isBack=*/false);
    if (!operands.back())
      return failure();
  }
  auto results = scan(node, *body, operands, states, *inputDirections, *outputDirections);
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

// Element `index` of the first dimension, or (`isBack`) the tensor as the only one.
static Value ofBatch(Node &node, Value value, int64_t index, bool isBack) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> shape(type.getShape()), starts(type.getRank(), 0), ends(shape), steps(type.getRank(), 1);
  if (isBack) {
    shape.insert(shape.begin(), 1);
    return node.reshape("", value, shape);
  }
  starts[0] = index, ends[0] = index + 1;
  Value part = node.create<top::SliceOp>(
      "", value, {node.i64s("starts", starts), node.i64s("ends", ends), node.i64s("steps", steps)});
  return part ? node.reshape("", part, ArrayRef(shape).drop_front()) : part;
}

// Opset 8: every tensor has a batch in front, whose elements are scanned one after the other.
static LogicalResult importBatchedScan(Node &node) {
  constexpr int64_t kMostBatch = 64;
  const ::onnx::GraphProto *body = node.graphAttr("body");
  int64_t count = static_cast<int64_t>(node.numInputs()) - 1, scanned = node.intAttr("num_scan_inputs", 0);
  int64_t states = count - std::clamp<int64_t>(scanned, 0, count);
  auto directions = body ? list(node, "directions", std::clamp<int64_t>(scanned, 0, count)) : std::nullopt;
  if (!directions)
    return failure();
  if (scanned < 1 || scanned > count || body->output_size() < states)
    return node.error("scans " + Twine(scanned) + " of " + Twine(count) + " inputs; its body gives " +
                      Twine(body->output_size()));
  int64_t batch = -1, length = -1;
  for (int64_t i = 1; i <= count; ++i) {
    if (!node.has(i))
      return node.error("input " + Twine(i) + " is missing");
    ArrayRef<int64_t> shape = node.type(i).getShape();
    bool isScanned = i > states;
    if (shape.size() < (isScanned ? 2u : 1u) || (batch >= 0 && shape[0] != batch) ||
        (isScanned && length >= 0 && shape[1] != length))
      return node.error("takes states [B, ..] and inputs [B, S, ..] of one B and S");
    batch = shape[0];
    length = isScanned ? shape[1] : length;
  }
  if (batch < 1 || batch > kMostBatch)
    return node.error("is supported for a batch of 1 to " + Twine(kMostBatch) + ", not of " + Twine(batch));
  if (node.has(0)) {
    std::optional<top::Weight> lengths = node.needConstant(0);
    if (!lengths || llvm::any_of(top::toInts(*lengths), [&](int64_t own) { return own != length; }))
      return node.error("is supported where all sequences have the whole length");
  }
  SmallVector<SmallVector<Value>> parts(body->output_size());
  for (int64_t index = 0; index < batch; ++index) {
    SmallVector<Value> operands;
    for (int64_t i = 1; i <= count; ++i)
      if (operands.push_back(ofBatch(node, node.input(i), index, /*isBack=*/false)); !operands.back())
        return failure();
    auto results =
        scan(node, *body, operands, states, *directions, SmallVector<int64_t>(body->output_size() - states, 0));
    if (!results)
      return failure();
    for (auto [part, value] : llvm::zip_equal(parts, *results))
      if (part.push_back(ofBatch(node, value, 0, /*isBack=*/true)); !part.back())
        return failure();
  }
  SmallVector<Value> results;
  for (auto [i, part] : llvm::enumerate(parts))
    results.push_back(part.size() == 1 ? part.front()
                                       : node.create<top::ConcatOp>(node.outputName(i), part, {node.i64("axis", 0)}));
  return llvm::is_contained(results, Value()) ? failure() : setOutputs(node, results);
}

void registerScan(Registry &registry) {
  registry.add("Scan", {8, 8, 0, kVariadic, importBatchedScan, kTakesStrings});
  registry.add("Scan", {9, kMaxOpset, 1, kVariadic, importScan, kTakesStrings});
}

} // namespace pto_mlir::onnx
