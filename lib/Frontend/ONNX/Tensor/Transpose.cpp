#include "../Registry.h"

using namespace mlir;

namespace pto_mlir::onnx {

static LogicalResult importTranspose(Node &node) {
  int64_t rank = node.type(0).getRank();
  SmallVector<int64_t> reversed(llvm::reverse(llvm::seq<int64_t>(0, rank)));
  SmallVector<int64_t> perm = node.intsAttr("perm").value_or(reversed);
  return node.result<top::PermuteOp>(node.input(0), {node.i64s("perm", perm)});
}

void registerTranspose(Registry &registry) {
  registry.add("Transpose", {7, kMaxOpset, 1, 1, importTranspose, kTakesStrings});
}

} // namespace pto_mlir::onnx
