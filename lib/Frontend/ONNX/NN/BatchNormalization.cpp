#include "../Registry.h"

using namespace mlir;

namespace pto_mlir::onnx {

static LogicalResult importBatchNormalization(Node &node) {
  double epsilon = node.floatAttr("epsilon", 1e-5f);
  node.floatAttr("momentum", 0.9f); // for training only
  if (node.opset() < 9 && node.intAttr("spatial", 1) != 1)
    return node.error("attribute 'spatial' = 0 is not supported");
  if (node.opset() >= 14 && node.intAttr("training_mode", 0) != 0)
    return node.error("training mode is not supported");
  for (unsigned i = 1; i < node.numOutputs(); ++i)
    if (node.wantsOutput(i))
      return node.error("the outputs of training ('" + node.outputName(i) + "') are not supported");
  return node.result<top::BatchNormOp>({node.input(0), node.input(1), node.input(2), node.input(3), node.input(4)},
                                       {node.f64("epsilon", epsilon)});
}

void registerBatchNormalization(Registry &registry) {
  registry.add("BatchNormalization", {7, kMaxOpset, 5, 5, importBatchNormalization});
}

} // namespace pto_mlir::onnx
