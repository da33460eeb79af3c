// Dropout is the identity at inference.
#include "../Registry.h"

using namespace mlir;

namespace pto_mlir::onnx {

// Exporters leave the training mode on where the ratio is 0.
static bool dropsNothing(Node &node) {
  std::optional<top::Weight> ratio = node.has(1) ? node.constant(1) : std::nullopt;
  return ratio && llvm::all_of(top::toDoubles(*ratio), [](double value) { return value == 0; });
}

static LogicalResult importDropout(Node &node) {
  if (node.wantsOutput(1)) { // nothing is dropped
    OpBuilder &b = node.builder();
    auto type = RankedTensorType::get(node.type(0).getShape(),
                                      node.opset() < 10 ? node.type(0).getElementType() : Type(b.getI1Type()));
    Value ones = node.filled(node.outputName(1), type, 1);
    if (!ones)
      return failure();
    node.set(1, ones);
  }
  if (node.opset() < 12)
    node.floatAttr("ratio", 0.5);
  else
    node.intAttr("seed", 0);
  if (node.has(2)) {
    std::optional<top::Weight> training = node.constant(2);
    bool isOff = training && llvm::all_of(top::toInts(*training), [](int64_t value) { return value == 0; });
    if (!isOff && !dropsNothing(node))
      return node.error("training mode with a ratio other than 0 is not supported");
  }
  return node.finish(node.input(0));
}

void registerDropout(Registry &registry) {
  registry.add("Dropout", {7, 11, 1, 1, importDropout});
  registry.add("Dropout", {12, kMaxOpset, 1, 3, importDropout});
}

} // namespace pto_mlir::onnx
