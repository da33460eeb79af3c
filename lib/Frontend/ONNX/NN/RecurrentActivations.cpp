#include "RecurrentActivations.h"

#include "../Math/Functions.h"

using namespace mlir;

namespace pto_mlir::onnx {
namespace {

/// A function by its name, and how many scaling values it takes with their defaults.
struct Row {
  StringRef name;
  Activation::Build build;
  std::optional<double> alpha, beta;
};

Value affine(Formula &f, Value x, double alpha, double beta) {
  return f.of<top::AddOp>(f.of<top::MulOp>(x, alpha), beta);
}
Value elu(Formula &f, Value x, double alpha, double) {
  Value least = f.of<top::MinOp>(x, 0.0);
  return f.of<top::AddOp>(f.of<top::ReluOp>(x), f.of<top::MulOp>(expMinusOne(f, least), alpha));
}
Value softplus(Formula &f, Value x, double, double) {
  auto [linear, rest] = softplusParts(f, x);
  return f.of<top::AddOp>(linear, rest);
}
Value threshold(Formula &f, Value x, double alpha, double) {
  return x ? f.where(f.compare(x, "ge", alpha), x, f.constant(x, 0)) : x;
}

const Row kRows[] = {
    {"Sigmoid", [](Formula &f, Value x, double, double) { return f.of<top::SigmoidOp>(x); }, {}, {}},
    {"Tanh", [](Formula &f, Value x, double, double) { return f.of<top::TanhOp>(x); }, {}, {}},
    {"Relu", [](Formula &f, Value x, double, double) { return f.of<top::ReluOp>(x); }, {}, {}},
    {"Affine", affine, 1, 0},
    {"Elu", elu, 1, {}},
    {"LeakyRelu",
     [](Formula &f, Value x, double alpha, double) {
       return f.of<top::AddOp>(f.of<top::ReluOp>(x), f.of<top::MulOp>(f.of<top::MinOp>(x, 0.0), alpha));
     },
     0.01,
     {}},
    {"ThresholdedRelu", threshold, 1, {}},
    {"ScaledTanh",
     [](Formula &f, Value x, double alpha, double beta) {
       return f.of<top::MulOp>(f.of<top::TanhOp>(f.of<top::MulOp>(x, beta)), alpha);
     },
     1, 1},
    {"HardSigmoid",
     [](Formula &f, Value x, double alpha, double beta) {
       return f.of<top::MaxOp>(f.of<top::MinOp>(affine(f, x, alpha, beta), 1.0), 0.0);
     },
     0.2, 0.5},
    {"Softsign",
     [](Formula &f, Value x, double, double) {
       return f.of<top::DivOp>(x, f.of<top::AddOp>(f.of<top::AbsOp>(x), 1.0));
     },
     {},
     {}},
    {"Softplus", softplus, {}, {}},
};

/// The next of the scaling values, which functions that take one consume in their order.
double next(ArrayRef<float> &values, std::optional<double> otherwise) {
  if (!otherwise || values.empty())
    return otherwise.value_or(0);
  double value = values.front();
  values = values.drop_front();
  return value;
}

ArrayRef<float> floatsOf(Node &node, StringRef name) {
  const auto *list = node.attr(name);
  return list ? ArrayRef<float>(list->floats().data(), list->floats_size()) : ArrayRef<float>();
}

} // namespace

Value Activation::ofGate(Formula &f, Value x) const {
  return of(f, clip ? f.of<top::MaxOp>(f.of<top::MinOp>(x, *clip), -*clip) : x);
}

std::optional<std::vector<Activation>> readActivations(Node &node, int64_t directions, ArrayRef<StringRef> functions) {
  std::vector<std::string> names;
  for (int64_t d = 0; d < directions; ++d)
    names.insert(names.end(), functions.begin(), functions.end());
  if (const auto *given = node.attr("activations")) {
    if (given->strings_size() != int64_t(names.size()))
      return (void)node.error("has " + Twine(given->strings_size()) + " activations, expects " + Twine(names.size())),
             std::nullopt;
    names.assign(given->strings().begin(), given->strings().end());
  }
  std::optional<double> clip;
  if (node.attr("clip"))
    clip = node.floatAttr("clip", 0);
  if (clip && !(*clip >= 0))
    return (void)node.error("attribute 'clip' is the bound of a magnitude, at least 0"), std::nullopt;
  ArrayRef<float> alpha = floatsOf(node, "activation_alpha"), beta = floatsOf(node, "activation_beta");
  std::vector<Activation> chosen;
  for (const std::string &name : names) {
    const Row *row = llvm::find_if(kRows, [&](const Row &known) { return known.name.equals_insensitive(name); });
    if (row == std::end(kRows)) {
      (void)node.error("activation '" + name + "' is not one of ONNX's: " +
                       llvm::join(llvm::map_range(kRows, [](const Row &known) { return known.name; }), ", "));
      return std::nullopt;
    }
    chosen.push_back({row->name, row->build, next(alpha, row->alpha), next(beta, row->beta), clip});
  }
  return chosen;
}

} // namespace pto_mlir::onnx
