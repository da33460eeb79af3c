// Gemm: alpha * A' * B' + beta * C.
#include "../Registry.h"

using namespace mlir;

namespace pto_mlir::onnx {

// A constant of the operands' element type.
static Value scalar(Node &node, Type element, double value) {
  auto type = RankedTensorType::get({}, element);
  OpBuilder &b = node.builder();
  return top::createConstant(b, b.getUnknownLoc(), "", type, top::fromDoubles(element, value));
}

static LogicalResult importGemm(Node &node) {
  RankedTensorType a = node.type(0), b = node.type(1);
  Type element = a.getElementType();
  double alpha = node.floatAttr("alpha", 1), beta = node.floatAttr("beta", 1);
  bool transA = node.intAttr("transA", 0), transB = node.intAttr("transB", 0);
  if (a.getRank() != 2 || b.getRank() != 2)
    return node.error("takes matrices, got ranks " + Twine(a.getRank()) + " and " + Twine(b.getRank()));
  bool hasC = node.has(2) && beta != 0;
  SmallVector<Value> operands{node.input(0), node.input(1)};
  // A C with one value per output column becomes the bias of the product.
  bool isBias = hasC && alpha == 1 && beta == 1 && node.type(2).getRank() == 1 &&
                node.type(2).getDimSize(0) == b.getDimSize(transB ? 0 : 1);
  if (isBias)
    operands.push_back(node.input(2));
  bool scaled = alpha != 1, added = hasC && !isBias;
  Value value = node.create<top::MatMulOp>(scaled || added ? "" : node.outputName(), operands,
                                           {node.flag("transpose_a", transA), node.flag("transpose_b", transB)});
  auto product = value ? cast<RankedTensorType>(value.getType()) : RankedTensorType();
  if (value && scaled)
    value = node.create<top::MulOp>(added ? "" : node.outputName(), {value, scalar(node, element, alpha)});
  if (value && added) {
    Value c = node.input(2);
    if (beta != 1)
      c = node.create<top::MulOp>("", {c, scalar(node, element, beta)});
    value = node.create<top::AddOp>(node.outputName(), {value, c});
    if (value && value.getType() != product)
      return node.error("C does not broadcast to the product's shape");
  }
  return node.finish(value);
}

void registerGemm(Registry &registry) {
  registry.add("Gemm", {7, 10, 3, 3, importGemm});
  registry.add("Gemm", {11, kMaxOpset, 2, 3, importGemm});
}

} // namespace pto_mlir::onnx
