// RandomNormal, RandomUniform, the same like another tensor, Bernoulli, Multinomial: drawn by the host program.
#include "../Registry.h"
#include "../TensorDecoder.h"
#include "llvm/ADT/bit.h"

using namespace mlir;

namespace pto_mlir::onnx {

// The element type of the attribute, else `otherwise`; null after an error.
static Type drawnType(Node &node, Type otherwise, bool mayBeInteger) {
  Type element = otherwise;
  if (node.attr("dtype")) {
    auto number = static_cast<int>(node.intAttr("dtype", 0));
    element = elementType(node.builder().getContext(), number);
    if (!element)
      return (void)node.error("attribute 'dtype': element type " + dataTypeName(number) + " is not supported"), Type();
  }
  bool isFloat = element.isF32() || element.isF64() || element.isF16() || element.isBF16();
  if (isFloat || (mayBeInteger && isa<IntegerType>(element) && element.getIntOrFloatBitWidth() != 2 &&
                  element.getIntOrFloatBitWidth() != 4))
    return element;
  std::string text;
  llvm::raw_string_ostream(text) << element;
  return (void)node.error("draws no numbers of type " + text), Type();
}

// The seed, and what tells the draws of one node from those of others.
static SmallVector<NamedAttribute> drawn(Node &node) {
  SmallVector<NamedAttribute> parameters{node.i64("node", node.drawNumber())};
  if (node.attr("seed")) {
    parameters.push_back(node.i64("has_seed", 1));
    parameters.push_back(node.i64("seed", llvm::bit_cast<uint32_t>(static_cast<float>(node.floatAttr("seed", 0)))));
  }
  return parameters;
}

static LogicalResult draw(Node &node, StringRef kernel, Value operand, RankedTensorType type,
                          SmallVector<NamedAttribute> parameters) {
  llvm::append_range(parameters, drawn(node));
  return node.finish(node.host(node.outputName(), kernel, operand, type, "random numbers", parameters));
}

static LogicalResult drawShaped(Node &node, bool isNormal, ArrayRef<int64_t> shape, Type element) {
  SmallVector<NamedAttribute> parameters{node.i64s("shape", shape)};
  if (isNormal) {
    parameters.push_back(node.f64("mean", node.floatAttr("mean", 0)));
    parameters.push_back(node.f64("scale", node.floatAttr("scale", 1)));
  } else {
    parameters.push_back(node.f64("low", node.floatAttr("low", 0)));
    parameters.push_back(node.f64("high", node.floatAttr("high", 1)));
  }
  if (!element)
    return failure();
  OpBuilder &b = node.builder();
  auto type = RankedTensorType::get(shape, element);
  if (std::optional<int64_t> bytes = top::tensorBytes(type); !bytes || *bytes > (int64_t(1) << 30))
    return node.error("the tensor is too large; 2^30 bytes are the most");
  // An operation of the host has an operand, which says nothing here.
  Value none = top::createConstant(b, b.getUnknownLoc(), "none", RankedTensorType::get({1}, b.getI64Type()),
                                   top::fromInts(b.getI64Type(), int64_t(0)));
  return draw(node, isNormal ? "random_normal" : "random_uniform", none, type, parameters);
}

static LogicalResult importRandom(Node &node, bool isNormal) {
  std::optional<SmallVector<int64_t>> shape = node.intsAttr("shape");
  if (!shape || llvm::any_of(*shape, [](int64_t size) { return size < 0; }))
    return node.error("has no attribute 'shape' with sizes that are not negative");
  return drawShaped(node, isNormal, *shape, drawnType(node, node.builder().getF32Type(), false));
}
static LogicalResult importRandomNormal(Node &node) { return importRandom(node, true); }
static LogicalResult importRandomUniform(Node &node) { return importRandom(node, false); }

static LogicalResult importRandomLike(Node &node, bool isNormal) {
  RankedTensorType type = node.type(0);
  return drawShaped(node, isNormal, type.getShape(), drawnType(node, type.getElementType(), false));
}
static LogicalResult importRandomNormalLike(Node &node) { return importRandomLike(node, true); }
static LogicalResult importRandomUniformLike(Node &node) { return importRandomLike(node, false); }

static LogicalResult importBernoulli(Node &node) {
  RankedTensorType type = node.type(0);
  Type element = drawnType(node, type.getElementType(), true);
  if (!element)
    return failure();
  if (!isa<FloatType>(type.getElementType()))
    return node.error("takes probabilities, which are floats");
  return draw(node, "random_bernoulli", node.input(0), type.clone(element), {});
}

static LogicalResult importMultinomial(Node &node) {
  RankedTensorType type = node.type(0);
  int64_t size = node.intAttr("sample_size", 1);
  Type element = drawnType(node, node.builder().getI32Type(), true);
  if (!element)
    return failure();
  if (type.getRank() != 2 || type.getDimSize(1) < 1 || !isa<FloatType>(type.getElementType()) ||
      !isa<IntegerType>(element) || size < 1 || size > (int64_t(1) << 26) / std::max<int64_t>(type.getDimSize(0), 1))
    return node.error("takes logarithms [B, C], a 'dtype' of integers and a 'sample_size' of 1 to 2^26 / B");
  return draw(node, "random_multinomial", node.input(0), RankedTensorType::get({type.getDimSize(0), size}, element),
              {node.i64("size", size)});
}

void registerRandom(Registry &registry) {
  registry.add("Bernoulli", {15, kMaxOpset, 1, 1, importBernoulli});
  registry.add("Multinomial", {7, kMaxOpset, 1, 1, importMultinomial});
  registry.add("RandomNormal", {7, kMaxOpset, 0, 0, importRandomNormal});
  registry.add("RandomNormalLike", {7, kMaxOpset, 1, 1, importRandomNormalLike});
  registry.add("RandomUniform", {7, kMaxOpset, 0, 0, importRandomUniform});
  registry.add("RandomUniformLike", {7, kMaxOpset, 1, 1, importRandomUniformLike});
}

} // namespace pto_mlir::onnx
