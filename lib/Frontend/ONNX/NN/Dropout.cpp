// Dropout is the identity at inference.
#include "../Registry.h"

using namespace mlir;

namespace pto_mlir::onnx {

static LogicalResult importDropout(Node &node) {
  if (node.wantsOutput(1))
    return node.error("the mask output ('" + node.outputName(1) + "') is not supported");
  if (node.opset() < 12)
    node.floatAttr("ratio", 0.5);
  else
    node.intAttr("seed", 0);
  if (node.has(2)) {
    std::optional<top::Weight> training = node.constant(2);
    if (!training || llvm::any_of(top::toInts(*training), [](int64_t value) { return value != 0; }))
      return node.error("training mode is not supported");
  }
  return node.finish(node.input(0));
}

void registerDropout(Registry &registry) {
  registry.add("Dropout", {7, 11, 1, 1, importDropout});
  registry.add("Dropout", {12, kMaxOpset, 1, 3, importDropout});
}

} // namespace pto_mlir::onnx
