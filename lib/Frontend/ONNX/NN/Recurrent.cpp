// LSTM, GRU, RNN: one product for the inputs of all steps, then the recurrence, unrolled over the (static) number of
// steps.
#include "../Composite.h"
#include "../Registry.h"

using namespace mlir;

namespace pto_mlir::onnx {
namespace {

/// Limit on unrolled steps: each adds small kernels to the program. Longer sequences should use a Loop or Scan.
constexpr int64_t kMostSteps = 1024;

/// The inputs and attributes of a node, with axes in layout 0: X [steps, batch, features], states [directions, batch,
/// hidden].
class Recurrent {
public:
  Recurrent(Node &node, int64_t gates, ArrayRef<StringRef> functions)
      : node(node), f(node), gates(gates), functions(functions) {}

  /// Checks shapes and attributes.
  LogicalResult read() {
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
    steps = shape[0], batch = shape[1], features = shape[2], hidden = node.type(2).getDimSize(2);
    if (node.intAttr("hidden_size", hidden) != hidden)
      return node.error("hidden_size is not that of R, " + Twine(hidden));
    if (!isShape(1, {directions, gates * hidden, features}) || !isShape(2, {directions, gates * hidden, hidden}) ||
        (node.has(3) && !isShape(3, {directions, 2 * gates * hidden})))
      return node.error("W, R or B does not have the shape that X, direction and hidden_size ask for");
    if (steps * directions > kMostSteps)
      return node.error("has " + Twine(steps * directions) + " steps, at most " + Twine(kMostSteps) +
                        " are supported; write a Loop or Scan over them");
    if (node.has(4)) {
      std::optional<SmallVector<int64_t>> lengths = node.ints(4, "sequence_lens");
      if (!lengths)
        return failure();
      if (llvm::any_of(*lengths, [&](int64_t length) { return length != steps; }))
        return node.error("sequence_lens shorter than the sequence are not supported; pad or cut the input instead");
    }
    if (node.attr("clip"))
      return node.error("clip is not supported");
    if (const auto *names = node.attr("activations")) {
      if (names->strings_size() != directions * int64_t(functions.size()))
        return node.error("has " + Twine(names->strings_size()) + " activations, expects " +
                          Twine(directions * functions.size()));
      chosen.assign(names->strings().begin(), names->strings().end());
    } else {
      for (int64_t d = 0; d < directions; ++d)
        for (StringRef name : functions)
          chosen.push_back(name.str());
    }
    for (const std::string &name : chosen)
      if (name != "Sigmoid" && name != "Tanh" && name != "Relu")
        return node.error("activation '" + name + "' is not supported; Sigmoid, Tanh and Relu are");
    return success();
  }

  /// Whether there is no step or no batch to compute.
  bool isEmpty() const { return steps == 0 || batch == 0; }
  /// The outputs without any: the states are the initial ones (inputs 5 and on).
  LogicalResult ofNothing() {
    Type element = node.type(0).getElementType();
    auto empty = [&](unsigned output, ArrayRef<int64_t> shape) {
      node.set(output, top::Weight{RankedTensorType::get(shape, element), {}, nullptr});
    };
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
      else
        node.set(output, top::createConstant(node.builder(), node.builder().getUnknownLoc(), "", type,
                                             std::vector<char>(*top::tensorBytes(type))));
    }
    return success();
  }

  bool isShape(unsigned input, ArrayRef<int64_t> shape) { return node.type(input).getShape() == shape; }

  Value activate(int64_t direction, size_t which, Value value, StringRef name = "") {
    const std::string &function = chosen[direction * functions.size() + which];
    if (function == "Sigmoid")
      return node.create<top::SigmoidOp>(name, value);
    return function == "Tanh" ? node.create<top::TanhOp>(name, value) : node.create<top::ReluOp>(name, value);
  }

  /// Elements [begin, end) of dimension `dim`.
  Value part(Value value, int64_t dim, int64_t begin, int64_t end) {
    if (!value)
      return {};
    ArrayRef<int64_t> shape = cast<RankedTensorType>(value.getType()).getShape();
    if (begin == 0 && end == shape[dim])
      return value;
    SmallVector<int64_t> starts(shape.size(), 0), ends(shape), by(shape.size(), 1);
    starts[dim] = begin, ends[dim] = end;
    return node.create<top::SliceOp>("", value,
                                     {node.i64s("starts", starts), node.i64s("ends", ends), node.i64s("steps", by)});
  }
  /// Row `index` of dimension 0, which is dropped.
  Value row(Value value, int64_t index) {
    value = part(value, 0, index, index + 1);
    return value ? node.reshape("", value, cast<RankedTensorType>(value.getType()).getShape().drop_front()) : Value();
  }
  /// Columns of gates [first, last).
  Value gate(Value value, int64_t first, int64_t last) {
    return value ? part(value, cast<RankedTensorType>(value.getType()).getRank() - 1, first * hidden, last * hidden)
                 : Value();
  }
  /// Gates [first, last) of the sum of two products. The gates of one row lie apart: they are added one by one, so that
  /// a step is a product and one kernel that reads parts of it.
  Value summed(Value a, Value b, int64_t first, int64_t last) {
    return f.of<top::AddOp>(gate(a, first, last), gate(b, first, last));
  }
  /// `value` times the transpose of `weights`.
  Value product(Value value, Value weights, Value bias = {}) {
    SmallVector<Value> operands{value, weights};
    if (bias)
      operands.push_back(bias);
    return node.create<top::MatMulOp>("", operands, {node.flag("transpose_b", true)});
  }
  /// The bias of the inputs (0) or of the recurrence (1); null when absent.
  Value bias(int64_t direction, int64_t which) {
    return node.has(3) ? part(row(node.input(3), direction), 0, which * gates * hidden, (which + 1) * gates * hidden)
                       : Value();
  }
  /// The products of the inputs of all steps, [steps, batch, gates * hidden].
  Value inputs(int64_t direction, Value added) {
    Value rows = node.reshape("", x, {steps * batch, features});
    Value all = product(rows, row(node.input(1), direction), features == 0 ? Value() : added);
    if (features == 0 && added) // the product is a constant of zeros
      all = f.of<top::AddOp>(all, added);
    return all ? node.reshape("", all, {steps, batch, gates * hidden}) : Value();
  }
  /// `value` with the peephole number `which` (input P) of `cell` added; as it is without.
  Value peep(int64_t direction, int64_t which, Value value, Value cell) {
    if (!node.has(7) || !cell)
      return value;
    Value weights = part(row(node.input(7), direction), 0, which * hidden, (which + 1) * hidden);
    return f.of<top::AddOp>(value, f.of<top::MulOp>(cell, weights));
  }
  Value recurrence(int64_t direction) { return row(node.input(2), direction); }
  /// The initial state; null for zeros.
  Value initial(int64_t direction, unsigned input) {
    if (!node.has(input))
      return {};
    Value all = batchFirst ? exchanged("", node.input(input)) : node.input(input);
    return all ? row(all, direction) : Value();
  }
  Value zeros() {
    Type element = node.type(0).getElementType();
    OpBuilder &b = node.builder();
    return top::createConstant(b, b.getUnknownLoc(), (node.outputName().str() + node.outputName(1).str() + "_zeros"),
                               RankedTensorType::get({batch, hidden}, element),
                               top::fromDoubles(element, std::vector<double>(batch * hidden, 0.0)));
  }

  /// Unrolls `step(direction, products of the inputs, h)`, which returns the next h; sets outputs Y and Y_h.
  LogicalResult run(llvm::function_ref<Value(int64_t)> prepare, llvm::function_ref<Value(int64_t, Value, Value)> step) {
    SmallVector<SmallVector<Value>> all(directions);
    SmallVector<Value> last;
    for (int64_t d = 0; d < directions; ++d) {
      Value h = node.has(5) ? initial(d, 5) : zeros(), given = prepare(d);
      all[d].resize(steps);
      bool isBackward = isReverse || d == 1;
      for (int64_t i = 0; i < steps && h && given; ++i) {
        int64_t t = isBackward ? steps - 1 - i : i;
        h = all[d][t] = step(d, row(given, t), h);
      }
      if (!h || !given)
        return failure();
      last.push_back(node.reshape("", h, {1, batch, hidden}));
    }
    if (node.wantsOutput(0)) {
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
    }
    return setState(1, last);
  }

  /// Sets a state output from one value per direction.
  LogicalResult setState(unsigned output, ArrayRef<Value> values) {
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

  Node &node;
  Formula f;
  int64_t gates, directions = 1, steps = 0, batch = 0, features = 0, hidden = 0;

private:
  Value exchanged(StringRef name, Value value) {
    return node.create<top::PermuteOp>(name, value, {node.i64s("perm", {1, 0, 2})});
  }

  /// Concatenates along dimension 0.
  Value joined(ArrayRef<Value> rows) {
    return rows.size() == 1 ? rows.front() : node.create<top::ConcatOp>("", rows, {node.i64("axis", 0)});
  }

  ArrayRef<StringRef> functions;
  std::vector<std::string> chosen; // per direction
  bool isReverse = false, batchFirst = false;
  Value x;
};

Value sum(Formula &f, Value a, Value b) { return a && b ? f.of<top::AddOp>(a, b) : a ? a : b; }

// i, o, f, g = sigma(..), c = f c + i g, h = o tanh(c). Peepholes: i and f see the cell before, o the one after.
LogicalResult importLSTM(Node &node) {
  StringRef functions[] = {"Sigmoid", "Tanh", "Tanh"};
  Recurrent r(node, 4, functions);
  if (failed(r.read()))
    return failure();
  if (node.intAttr("input_forget", 0))
    return node.error("input_forget is not supported");
  if (node.has(7) && !r.isShape(7, {r.directions, 3 * r.hidden}))
    return node.error("P does not have the shape that direction and hidden_size ask for");
  if (r.isEmpty())
    return r.ofNothing();
  SmallVector<Value> cells, weights;
  LogicalResult done = r.run(
      [&](int64_t d) {
        cells.push_back(node.has(6) ? r.initial(d, 6) : r.zeros());
        weights.push_back(r.recurrence(d));
        return r.inputs(d, sum(r.f, r.bias(d, 0), r.bias(d, 1)));
      },
      [&](int64_t d, Value given, Value h) -> Value {
        Value known = r.product(h, weights[d]), all = r.batch == 1 ? Value() : r.f.of<top::AddOp>(known, given);
        auto gate = [&](int64_t n) { return all ? r.gate(all, n, n + 1) : r.summed(known, given, n, n + 1); };
        Value i = r.activate(d, 0, r.peep(d, 0, gate(0), cells[d])),
              f = r.activate(d, 0, r.peep(d, 2, gate(2), cells[d]));
        Value g = r.activate(d, 1, gate(3));
        cells[d] = r.f.of<top::AddOp>(r.f.of<top::MulOp>(f, cells[d]), r.f.of<top::MulOp>(i, g));
        Value o = r.activate(d, 0, r.peep(d, 1, gate(1), cells[d]));
        return cells[d] ? r.f.of<top::MulOp>(o, r.activate(d, 2, cells[d])) : Value();
      });
  if (failed(done))
    return failure();
  for (Value &cell : cells)
    cell = node.reshape("", cell, {1, r.batch, r.hidden});
  return r.setState(2, cells);
}

// z, r = sigma(..), n = tanh(x + (r h) R) or tanh(x + r (h R + b)), h = (1 - z) n + z h = n + z (h - n).
LogicalResult importGRU(Node &node) {
  StringRef functions[] = {"Sigmoid", "Tanh"};
  Recurrent r(node, 3, functions);
  if (failed(r.read()))
    return failure();
  bool resetLast = node.intAttr("linear_before_reset", 0);
  if (r.isEmpty())
    return r.ofNothing();
  SmallVector<Value> weights, biases;
  return r.run(
      [&](int64_t d) {
        weights.push_back(r.recurrence(d));
        biases.push_back(resetLast ? r.bias(d, 1) : Value());
        return r.inputs(d, resetLast ? r.bias(d, 0) : sum(r.f, r.bias(d, 0), r.bias(d, 1)));
      },
      [&](int64_t d, Value given, Value h) -> Value {
        Value known =
            resetLast ? r.product(h, weights[d], biases[d]) : r.product(h, r.part(weights[d], 0, 0, 2 * r.hidden));
        Value both = r.batch == 1 ? Value() : r.activate(d, 0, r.summed(known, given, 0, 2));
        auto gate = [&](int64_t n) {
          return both ? r.gate(both, n, n + 1) : r.activate(d, 0, r.summed(known, given, n, n + 1));
        };
        Value z = gate(0), reset = gate(1);
        Value inner = resetLast
                          ? r.f.of<top::MulOp>(reset, r.gate(known, 2, 3))
                          : r.product(r.f.of<top::MulOp>(reset, h), r.part(weights[d], 0, 2 * r.hidden, 3 * r.hidden));
        Value n = r.activate(d, 1, r.f.of<top::AddOp>(inner, r.gate(given, 2, 3)));
        return r.f.of<top::AddOp>(n, r.f.of<top::MulOp>(z, r.f.of<top::SubOp>(h, n)));
      });
}

// h = tanh(x W + h R + b).
LogicalResult importRNN(Node &node) {
  StringRef functions[] = {"Tanh"};
  Recurrent r(node, 1, functions);
  if (failed(r.read()))
    return failure();
  if (r.isEmpty())
    return r.ofNothing();
  SmallVector<Value> weights;
  return r.run(
      [&](int64_t d) {
        weights.push_back(r.recurrence(d));
        return r.inputs(d, sum(r.f, r.bias(d, 0), r.bias(d, 1)));
      },
      [&](int64_t d, Value given, Value h) {
        return r.activate(d, 0, r.f.of<top::AddOp>(r.product(h, weights[d]), given));
      });
}

} // namespace

void registerRecurrent(Registry &registry) {
  registry.add("LSTM", {7, kMaxOpset, 3, 8, importLSTM});
  registry.add("GRU", {7, kMaxOpset, 3, 6, importGRU});
  registry.add("RNN", {7, kMaxOpset, 3, 6, importRNN});
}

} // namespace pto_mlir::onnx
