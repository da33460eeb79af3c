// LSTM, GRU and RNN as top.recurrent: one product for the inputs of all steps, then an op that becomes one kernel.
#include "Recurrent.h"
#include "pto_mlir/Kernels/Recurrence.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;

namespace pto_mlir::onnx {

/// Of the products of all steps: 1 GiB of f32.
static constexpr int64_t kMostElements = int64_t(1) << 28;

bool Recurrent::hasKernel() {
  Type element = node.type(0).getElementType();
  bool alike = llvm::all_of(ArrayRef<unsigned>{1, 2},
                            [&](unsigned input) { return node.type(input).getElementType() == element; });
  return alike && features > 0 && hidden > 0 && hidden <= recurrent::kMostHidden &&
         (element.isF32() || element.isF16() || element.isBF16());
}

Value Recurrent::reshaped(Value value, ArrayRef<int64_t> shape) {
  return value ? node.reshape("", value, shape) : value;
}

/// The biases of directions [first, first + count): what the product of the inputs adds, and of a GRU that resets late
/// the rest.
std::pair<Value, Value> Recurrent::biases(int64_t first, int64_t count, bool resetLast) {
  if (!node.has(3))
    return {};
  int64_t columns = gates * hidden, early = resetLast ? 2 * hidden : columns;
  Value all = part(node.input(3), 0, first, first + count);
  auto of = [&](int64_t begin, int64_t end) { return part(all, 1, begin, end); };
  Value added = f.of<top::AddOp>(of(0, early), of(columns, columns + early));
  if (resetLast)
    added = joined({added, of(early, columns)}, 1);
  return {reshaped(added, {count * columns}), resetLast ? of(columns + early, 2 * columns) : Value()};
}

/// 1 where a sequence reaches a step and 0 elsewhere, [steps, batch]; null where all reach all.
FailureOr<Value> Recurrent::liveSteps() {
  Type element = node.type(0).getElementType();
  OpBuilder &b = node.builder();
  auto constant = [&](ArrayRef<int64_t> shape, Type type, ArrayRef<double> numbers) {
    return top::createConstant(b, b.getUnknownLoc(), "", RankedTensorType::get(shape, type),
                               top::fromDoubles(type, numbers));
  };
  if (given) {
    std::vector<double> numbers(steps);
    std::iota(numbers.begin(), numbers.end(), 0.0);
    Type type = cast<RankedTensorType>(given.getType()).getElementType();
    Value live =
        castTo(node, f.compare(reshaped(given, {1, batch}), "gt", constant({steps, 1}, type, numbers)), element);
    if (!live)
      return failure();
    return live;
  }
  if (!lengths || llvm::all_of(*lengths, [&](int64_t length) { return length == steps; }))
    return Value();
  std::vector<double> numbers;
  for (int64_t step = 0; step < steps; ++step)
    for (int64_t length : *lengths)
      numbers.push_back(length > step);
  return constant({steps, batch}, element, numbers);
}

Value Recurrent::initialStates(int64_t first, int64_t count, unsigned input) {
  if (node.has(input))
    return part(batchFirst ? exchanged("", node.input(input)) : node.input(input), 0, first, first + count);
  return zeros({count, batch, hidden});
}

/// The recurrence of directions [first, first + count), whose activations are the same.
Value Recurrent::whole(StringRef kind, int64_t first, int64_t count, Value live) {
  bool isLong = kind == "LSTM", resetLast = kind == "GRU" && node.intAttr("linear_before_reset", 0);
  int64_t columns = gates * hidden;
  auto [added, late] = biases(first, count, resetLast);
  if (node.has(3) && (!added || (resetLast && !late)))
    return {};
  Value weights = reshaped(part(node.input(1), 0, first, first + count), {count * columns, features});
  Value rows = reshaped(x, {steps * batch, features});
  Value products = rows && weights ? reshaped(product(rows, weights, added), {steps, batch, count * columns}) : Value();
  SmallVector<Value> operands{products, part(node.input(2), 0, first, first + count), initialStates(first, count, 5)};
  SmallVector<int32_t> segments{1, 1, 1, isLong, bool(late), isLong && node.has(7), bool(live)};
  if (isLong)
    operands.push_back(initialStates(first, count, 6));
  if (late)
    operands.push_back(late);
  if (isLong && node.has(7))
    operands.push_back(part(node.input(7), 0, first, first + count));
  if (live)
    operands.push_back(live);
  if (llvm::is_contained(operands, Value()))
    return {};
  OpBuilder &b = node.builder();
  bool backward = isReverse || (count == 1 && first == 1);
  SmallVector<StringRef> names;
  SmallVector<double> alphas, betas;
  for (const Activation &activation : ArrayRef(activations).slice(first * functions.size(), functions.size())) {
    names.push_back(activation.name);
    alphas.push_back(activation.alpha);
    betas.push_back(activation.beta);
  }
  SmallVector<NamedAttribute> attributes{node.named("kind", b.getStringAttr(kind)),
                                         node.named("direction", b.getStringAttr(count == 2 ? "bidirectional"
                                                                                 : backward ? "reverse"
                                                                                            : "forward")),
                                         node.named("activations", b.getStrArrayAttr(names)),
                                         node.named("alphas", b.getDenseF64ArrayAttr(alphas)),
                                         node.named("betas", b.getDenseF64ArrayAttr(betas)),
                                         node.flag("coupled", isLong && node.intAttr("input_forget", 0)),
                                         node.flag("reset_last", resetLast),
                                         node.named("operandSegmentSizes", b.getDenseI32ArrayAttr(segments))};
  if (activations.front().clip)
    attributes.push_back(node.f64("clip", *activations.front().clip));
  return node.create<top::RecurrentOp>("", operands, attributes);
}

/// Refuses layers whose products have more elements than a tensor may have: what is made here as constants is smaller.
LogicalResult Recurrent::checkSize() {
  int64_t elements = 1;
  for (int64_t size : {steps, batch, directions, gates, hidden})
    if (llvm::MulOverflow(elements, size, elements) || elements > kMostElements)
      return node.error("has more than " + Twine(kMostElements) + " elements of gates in its " + Twine(steps) +
                        " steps");
  return success();
}

LogicalResult Recurrent::importWhole(StringRef kind) {
  if (failed(checkSize()))
    return failure();
  FailureOr<Value> live = liveSteps();
  if (failed(live))
    return failure();
  auto sameFunctions = [&] {
    ArrayRef<Activation> all = activations;
    return std::equal(all.begin(), all.begin() + functions.size(), all.begin() + functions.size());
  };
  SmallVector<Value> results;
  if (directions == 1 || sameFunctions())
    results = {whole(kind, 0, directions, *live)};
  else
    results = {whole(kind, 0, 1, *live), whole(kind, 1, 1, *live)};
  if (llvm::is_contained(results, Value()))
    return failure();
  auto rowsOf = [&](int64_t begin, int64_t end) {
    return llvm::map_to_vector(results, [&](Value result) { return part(result, 0, begin, end); });
  };
  if (node.wantsOutput(0)) {
    StringRef name = batchFirst ? "" : node.outputName();
    Value y = results.size() > 1 ? joined(rowsOf(0, steps), 1, name) : part(results[0], 0, 0, steps, name);
    if (batchFirst && y)
      y = node.create<top::PermuteOp>(node.outputName(), y, {node.i64s("perm", {2, 0, 1, 3})});
    if (!y)
      return failure();
    node.set(0, y);
  }
  for (unsigned output = 1; output <= (kind == "LSTM" ? 2u : 1u); ++output) {
    SmallVector<Value> last;
    for (int64_t direction = 0; direction < directions; ++direction) {
      bool backward = isReverse || direction == 1;
      int64_t step = output == 1 && !*live ? (backward ? 0 : steps - 1) : steps + output - 1;
      Value result = results[results.size() > 1 ? direction : 0];
      Value state = part(result, 0, step, step + 1);
      if (results.size() == 1)
        state = part(state, 1, direction, direction + 1);
      last.push_back(reshaped(state, {1, batch, hidden}));
    }
    if (llvm::is_contained(last, Value()) || failed(setState(output, last)))
      return failure();
  }
  return success();
}

} // namespace pto_mlir::onnx
