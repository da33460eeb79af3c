// NonZero: computed by the program, because the number of columns is dynamic.
#include "../Registry.h"

using namespace mlir;

namespace pto_mlir::onnx {

static LogicalResult importNonZero(Node &node) {
  RankedTensorType type = node.type(0);
  if (type.getRank() == 0)
    return node.error("takes no scalar");
  OpBuilder &b = node.builder();
  auto result = RankedTensorType::get({type.getRank(), ShapedType::kDynamic}, b.getI64Type());
  Value indices = b.create<top::NonZeroOp>(top::namedLoc(b.getContext(), node.outputName()), result, node.input(0));
  std::vector<std::vector<std::vector<int64_t>>> choices;
  for (int64_t count = 0; count <= std::min(type.getNumElements(), node.maxExtent()); ++count)
    choices.push_back({{type.getRank(), count}});
  node.setShapes(indices, std::move(choices));
  node.set(0, indices);
  return success();
}

void registerNonZero(Registry &registry) { registry.add("NonZero", {9, kMaxOpset, 1, 1, importNonZero}); }

} // namespace pto_mlir::onnx
