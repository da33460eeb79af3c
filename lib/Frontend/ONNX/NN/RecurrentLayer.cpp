// What a layer's inputs and attributes are, and its recurrence unrolled over the steps, for what has no kernel.
#include "Recurrent.h"

using namespace mlir;

namespace pto_mlir::onnx {

/// Limit on unrolled steps, where there is no kernel with a loop: each adds small kernels to the program.
static constexpr int64_t kMostSteps = 1024;

LogicalResult Recurrent::read() {
  if (node.type(0).getRank() != 3 || node.type(1).getRank() != 3 || node.type(2).getRank() != 3)
    return node.error("X, W and R have rank 3");
  std::string direction = node.stringAttr("direction", "forward");
  if (direction != "forward" && direction != "reverse" && direction != "bidirectional")
    return node.error("direction '" + direction + "' is not forward, reverse or bidirectional");
  directions = direction == "bidirectional" ? 2 : 1;
  isReverse = direction == "reverse";
  batchFirst = node.intAttr("layout", 0);
  x = batchFirst ? exchanged("", node.input(0)) : node.input(0);
  if (!x)
    return failure();
  ArrayRef<int64_t> shape = cast<RankedTensorType>(x.getType()).getShape();
  steps = shape[0], batch = shape[1], features = shape[2], hidden = hiddenSize();
  if (node.intAttr("hidden_size", hidden) != hidden)
    return node.error("hidden_size is not that of R, " + Twine(hidden));
  if (!fitsWeights() || (node.has(3) && !isShape(3, {directions, 2 * gates * hidden})))
    return node.error("W, R or B does not have the shape that X, direction and hidden_size ask for");
  if (!isEmpty() && !hasKernel() && (steps > kMostSteps || steps * directions > kMostSteps))
    return node.error("has " + Twine(steps) + " steps" + (directions == 2 ? " in two directions" : "") + ", at most " +
                      Twine(kMostSteps) +
                      " are supported of f64, without features, of more than 4096 hidden features or of quantised "
                      "weights; write a Loop or Scan over them");
  if (failed(readLengths()))
    return failure();
  std::optional<std::vector<Activation>> chosen = readActivations(node, directions, functions);
  if (!chosen)
    return failure();
  activations = std::move(*chosen);
  return success();
}

LogicalResult Recurrent::readLengths() {
  if (!node.has(4))
    return success();
  if (node.type(4).getShape() != ArrayRef<int64_t>{batch})
    return node.error("sequence_lens has one number for each of " + Twine(batch) + " sequences");
  if (!node.constant(4)) {
    given = node.reshape("", node.input(4), {batch, 1});
    return success(bool(given));
  }
  lengths = node.ints(4, "sequence_lens");
  if (!lengths)
    return failure();
  if (llvm::any_of(*lengths, [&](int64_t length) { return length < 0 || length > steps; }))
    return node.error("sequence_lens are from 0 to the number of steps, " + Twine(steps));
  return success();
}

std::optional<int64_t> Recurrent::reaching(int64_t t) const {
  if (given)
    return std::nullopt;
  return lengths ? llvm::count_if(*lengths, [&](int64_t length) { return length > t; }) : batch;
}

Value Recurrent::mask(int64_t t) {
  if (given)
    return f.compare(given, "gt", static_cast<double>(t));
  std::vector<double> reached;
  for (int64_t length : *lengths)
    reached.push_back(length > t);
  OpBuilder &b = node.builder();
  return top::createConstant(b, b.getUnknownLoc(), "", RankedTensorType::get({batch, 1}, b.getI1Type()),
                             top::fromDoubles(b.getI1Type(), reached));
}

LogicalResult Recurrent::ofNothing() {
  Type element = node.type(0).getElementType();
  auto empty = [&](unsigned output, ArrayRef<int64_t> shape) { node.setEmpty(output, shape, element); };
  if (node.wantsOutput(0))
    empty(0, batchFirst ? ArrayRef<int64_t>{batch, steps, directions, hidden}
                        : ArrayRef<int64_t>{steps, directions, batch, hidden});
  for (unsigned output = 1; output < node.numOutputs(); ++output) {
    int64_t first = batchFirst ? batch : directions, second = batchFirst ? directions : batch;
    auto type = RankedTensorType::get({first, second, hidden}, element);
    if (!node.wantsOutput(output))
      continue;
    if (type.getNumElements() == 0)
      empty(output, type.getShape());
    else if (node.has(output + 4))
      node.set(output, node.input(output + 4));
    else if (Value states = node.filled("", type, 0))
      node.set(output, states);
    else
      return failure();
  }
  return success();
}

Value Recurrent::part(Value value, int64_t dim, int64_t begin, int64_t end, StringRef name) {
  if (!value)
    return {};
  ArrayRef<int64_t> shape = cast<RankedTensorType>(value.getType()).getShape();
  if (begin == 0 && end == shape[dim])
    return value;
  SmallVector<int64_t> starts(shape.size(), 0), ends(shape), by(shape.size(), 1);
  starts[dim] = begin, ends[dim] = end;
  return node.create<top::SliceOp>(name, value,
                                   {node.i64s("starts", starts), node.i64s("ends", ends), node.i64s("steps", by)});
}

Value Recurrent::row(Value value, int64_t index) {
  value = part(value, 0, index, index + 1);
  return value ? node.reshape("", value, cast<RankedTensorType>(value.getType()).getShape().drop_front()) : Value();
}

Value Recurrent::gate(Value value, int64_t first, int64_t last) {
  return value ? part(value, cast<RankedTensorType>(value.getType()).getRank() - 1, first * hidden, last * hidden)
               : Value();
}

Value Recurrent::product(Value value, Value weights, Value bias) {
  SmallVector<Value> operands{value, weights};
  if (bias)
    operands.push_back(bias);
  return node.create<top::MatMulOp>("", operands, {node.flag("transpose_b", true)});
}

Value Recurrent::bias(int64_t direction, int64_t which) {
  return node.has(3) ? part(row(node.input(3), direction), 0, which * gates * hidden, (which + 1) * gates * hidden)
                     : Value();
}

Value Recurrent::inputs(int64_t direction, Value added) {
  Value rows = node.reshape("", x, {steps * batch, features});
  Value all = weighted(direction, 1, rows, features == 0 ? Value() : added);
  if (features == 0 && added) // the product is a constant of zeros
    all = f.of<top::AddOp>(all, added);
  return all ? node.reshape("", all, {steps, batch, gates * hidden}) : Value();
}

Value Recurrent::peep(int64_t direction, int64_t which, Value value, Value cell) {
  if (!node.has(7) || !cell)
    return value;
  Value weights = part(row(node.input(7), direction), 0, which * hidden, (which + 1) * hidden);
  return f.of<top::AddOp>(value, f.of<top::MulOp>(cell, weights));
}

Value Recurrent::initial(int64_t direction, unsigned input) {
  if (!node.has(input))
    return {};
  Value all = batchFirst ? exchanged("", node.input(input)) : node.input(input);
  return all ? row(all, direction) : Value();
}

Value Recurrent::joined(ArrayRef<Value> values, int64_t axis, StringRef name) {
  if (llvm::is_contained(values, Value()))
    return {};
  return values.size() == 1 ? values.front() : node.create<top::ConcatOp>(name, values, {node.i64("axis", axis)});
}

Value Recurrent::zeros(ArrayRef<int64_t> shape) {
  auto type = RankedTensorType::get(shape, node.type(0).getElementType());
  return node.filled(node.outputName().str() + node.outputName(1).str() + "_zeros", type, 0);
}

LogicalResult Recurrent::run(llvm::function_ref<Value(int64_t)> prepare,
                             llvm::function_ref<Value(int64_t, Value, Value)> step) {
  SmallVector<SmallVector<Value>> all(directions);
  SmallVector<Value> last;
  for (int64_t d = 0; d < directions; ++d) {
    Value h = node.has(5) ? initial(d, 5) : zeros(), products = prepare(d);
    all[d].resize(steps);
    bool isBackward = isReverse || d == 1;
    for (int64_t i = 0; i < steps && h && products; ++i) {
      int64_t t = isBackward ? steps - 1 - i : i;
      std::optional<int64_t> count = reaching(t);
      if (count == 0) {
        all[d][t] = zeros();
        continue;
      }
      live = count == batch ? Value() : mask(t);
      Value next = step(d, row(products, t), h);
      h = next ? after(next, h) : next;
      all[d][t] = live && next ? f.where(live, next, f.constant(next, 0)) : next;
    }
    if (!h || !products)
      return failure();
    last.push_back(node.reshape("", h, {1, batch, hidden}));
  }
  if (node.wantsOutput(0) && failed(setOutput(all)))
    return failure();
  return setState(1, last);
}

LogicalResult Recurrent::setOutput(ArrayRef<SmallVector<Value>> all) {
  SmallVector<Value> rows;
  for (int64_t t = 0; t < steps; ++t)
    for (int64_t d = 0; d < directions; ++d)
      rows.push_back(node.reshape("", all[d][t], {1, batch, hidden}));
  Value y = joined(rows);
  y = y ? node.reshape(batchFirst ? "" : node.outputName(), y, {steps, directions, batch, hidden}) : y;
  if (batchFirst && y)
    y = node.create<top::PermuteOp>(node.outputName(), y, {node.i64s("perm", {2, 0, 1, 3})});
  if (!y)
    return failure();
  node.set(0, y);
  return success();
}

LogicalResult Recurrent::setState(unsigned output, ArrayRef<Value> values) {
  if (!node.wantsOutput(output))
    return success();
  Value all = joined(values);
  // A new value with its own name, since the last state may also be part of Y.
  if (all)
    all = batchFirst ? exchanged(node.outputName(output), all)
                     : node.reshape(node.outputName(output), all, {directions, batch, hidden});
  if (!all)
    return failure();
  node.set(output, all);
  return success();
}

} // namespace pto_mlir::onnx
