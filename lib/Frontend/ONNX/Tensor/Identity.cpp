#include "../Registry.h"

using namespace mlir;

namespace pto_mlir::onnx {

static LogicalResult importIdentity(Node &node) { return node.finish(node.input(0)); }

void registerIdentity(Registry &registry) {
  registry.add("Identity", {7, kMaxOpset, 1, 1, importIdentity, kTakesStrings});
}

} // namespace pto_mlir::onnx
