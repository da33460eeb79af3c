#include "RecurrentActivations.h"

using namespace mlir;

namespace pto_mlir::onnx {
namespace {

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
  ArrayRef<top::gates::Function<TensorArithmetic>> all = top::gates::functions<TensorArithmetic>();
  std::vector<Activation> chosen;
  for (const std::string &name : names) {
    const auto *known = llvm::find_if(all, [&](const auto &each) { return each.name.equals_insensitive(name); });
    if (known == all.end()) {
      (void)node.error("activation '" + name + "' is not one of ONNX's: " +
                       llvm::join(llvm::map_range(all, [](const auto &each) { return each.name; }), ", "));
      return std::nullopt;
    }
    chosen.push_back({known->name, known->build, next(alpha, known->alpha), next(beta, known->beta), clip});
  }
  return chosen;
}

} // namespace pto_mlir::onnx
