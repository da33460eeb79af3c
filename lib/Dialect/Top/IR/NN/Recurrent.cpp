#include "../Inference.h"

using namespace mlir;
using namespace pto_mlir::top;

namespace {

/// Gates, activations of a direction and states of each kind.
struct Kind {
  StringRef name;
  int64_t gates;
  size_t activations;
  int64_t states;
};
constexpr Kind kKinds[] = {{"LSTM", 4, 3, 2}, {"GRU", 3, 2, 1}, {"RNN", 1, 1, 1}};
constexpr int64_t kMostElements = int64_t(1) << 40;

const Kind *kindOf(StringRef name) {
  const Kind *kind = llvm::find_if(kKinds, [&](const Kind &known) { return known.name == name; });
  return kind == std::end(kKinds) ? nullptr : kind;
}

} // namespace

LogicalResult RecurrentOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  const Kind *kind = kindOf(adaptor.getKind());
  if (!kind)
    return inferError<RecurrentOp>(loc, "expects a kind of LSTM, GRU or RNN, got '", adaptor.getKind(), "'");
  StringRef direction = adaptor.getDirection();
  if (!llvm::is_contained({"forward", "reverse", "bidirectional"}, direction))
    return inferError<RecurrentOp>(loc, "expects a direction of forward, reverse or bidirectional, got '", direction,
                                   "'");
  size_t functions = adaptor.getActivations().size();
  if (functions != kind->activations || adaptor.getAlphas().size() != functions ||
      adaptor.getBetas().size() != functions)
    return inferError<RecurrentOp>(loc, "expects ", kind->activations, " activations, each with an alpha and a beta");
  int64_t directions = direction == "bidirectional" ? 2 : 1;
  ArrayRef<int64_t> input = shapeOf(adaptor.getInput()), weights = shapeOf(adaptor.getWeights());
  if (weights.size() != 3 || weights[0] != directions || weights[2] < 1 || weights[2] > kMostElements ||
      weights[1] != kind->gates * weights[2])
    return inferError<RecurrentOp>(loc, "expects weights of [", directions, ", ", kind->gates,
                                   " * hidden, hidden], got ", shapeText(weights));
  int64_t hidden = weights[2];
  if (input.size() != 3 || input[0] < 1 || input[1] < 1 || input[2] != directions * weights[1])
    return inferError<RecurrentOp>(loc, "expects an input of [steps, batch, ", directions * weights[1], "], got ",
                                   shapeText(input));
  std::tuple<StringRef, Value, SmallVector<int64_t>> others[] = {
      {"a bias", adaptor.getBias(), {directions, hidden}},
      {"peepholes", adaptor.getPeepholes(), {directions, 3 * hidden}},
      {"live", adaptor.getLive(), {input[0], input[1]}},
      {"an initial_h", adaptor.getInitialH(), {directions, input[1], hidden}},
      {"an initial_c", adaptor.getInitialC(), {directions, input[1], hidden}}};
  for (auto &[what, value, shape] : others)
    if (value && shapeOf(value) != ArrayRef<int64_t>(shape))
      return inferError<RecurrentOp>(loc, "expects ", what, " of ", shapeText(shape), ", got ",
                                     shapeText(shapeOf(value)));
  Type element = getElementTypeOrSelf(adaptor.getInput().getType());
  for (Value value : {adaptor.getWeights(), adaptor.getInitialH(), adaptor.getInitialC(), adaptor.getLive()})
    if (value && getElementTypeOrSelf(value.getType()) != element)
      return inferError<RecurrentOp>(loc, "expects the element type of the input, ", element,
                                     ", of weights, states and live, got ", getElementTypeOrSelf(value.getType()));
  if ((kind->states == 2) != bool(adaptor.getInitialC()))
    return inferError<RecurrentOp>(loc, "expects an initial_c of an LSTM only");
  if (input[0] > kMostElements)
    return inferError<RecurrentOp>(loc, "expects at most ", kMostElements, " steps");
  types.push_back(RankedTensorType::get({input[0] + kind->states, directions, input[1], hidden}, element));
  return success();
}

RecurrentOp::Extents RecurrentOp::getExtents() {
  const Kind &kind = *kindOf(getKind());
  ArrayRef<int64_t> input = shapeOf(getInput()), weights = shapeOf(getWeights());
  return {input[0], input[1], weights[0], kind.gates, weights[2], kind.states};
}

bool RecurrentOp::isReverse(int64_t direction) { return getDirection() == "reverse" || direction == 1; }
