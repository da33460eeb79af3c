// com.microsoft.DynamicQuantizeLSTM: an LSTM whose weights are 8-bit numbers, and whose products quantise their left
// side anew.
#include "../Math/Quantization.h"
#include "../Registry.h"
#include "Recurrent.h"

using namespace mlir;

namespace pto_mlir::onnx {
namespace {

/// W [directions, features, 4 hidden] and R [directions, hidden, 4 hidden]; behind P their scales and zero points, one
/// for each direction, or for each of its columns.
class QuantisedLayer final : public Recurrent {
public:
  explicit QuantisedLayer(Node &node) : Recurrent(node, 4, kLSTMFunctions) {}

  Value weighted(int64_t direction, unsigned input, Value value, Value bias) override {
    unsigned scale = 6 + 2 * input;
    Type type = exactType(node, cast<RankedTensorType>(value.getType()).getShape().back(), 0, false);
    auto [x, step] = dynamicallyQuantised(node, value);
    Value weights = castTo(node, row(node.input(input), direction), type);
    if (node.has(scale + 1))
      weights = f.of<top::SubOp>(weights, castTo(node, row(node.input(scale + 1), direction), type));
    Value sums = f.of<top::MatMulOp>(castTo(node, x, type), weights);
    Value factor = step ? f.of<top::MulOp>(row(node.input(scale), direction), step) : step;
    Value product = factor ? f.of<top::MulOp>(castTo(node, sums, node.type(0).getElementType()), factor) : factor;
    return bias ? f.of<top::AddOp>(product, bias) : product;
  }

  bool hasKernel() override { return false; }

  LogicalResult checkScales() {
    for (unsigned i = 8; i < 12; ++i) {
      bool isMissing = !node.has(i);
      if (isMissing && i % 2 == 0)
        return node.error("input " + Twine(i) + ", a scale, is missing");
      if (isMissing)
        continue;
      ArrayRef<int64_t> shape = node.type(i).getShape();
      if (shape != ArrayRef<int64_t>{directions} && shape != ArrayRef<int64_t>{directions, gates * hidden})
        return node.error("input " + Twine(i) + " has one number for each direction, or for each of its columns");
    }
    return success();
  }

protected:
  bool fitsWeights() override {
    return isShape(1, {directions, features, gates * hidden}) && isShape(2, {directions, hidden, gates * hidden}) &&
           succeeded(checkScales());
  }
  int64_t hiddenSize() override { return node.type(2).getDimSize(1); }
};

LogicalResult importDynamicQuantizeLSTM(Node &node) {
  if (!node.type(0).getElementType().isF32())
    return node.error("takes X of f32");
  for (unsigned i : {1u, 2u})
    if (!node.type(i).getElementType().isInteger(8))
      return node.error("takes W and R of 8-bit integers");
  QuantisedLayer layer(node);
  return importLongShortTermMemory(layer);
}

} // namespace

void registerDynamicQuantizeLSTM(Registry &registry) {
  registry.add("com.microsoft.DynamicQuantizeLSTM", {1, 1, 3, 12, exactly<importDynamicQuantizeLSTM>});
}

} // namespace pto_mlir::onnx
