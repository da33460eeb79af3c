// Compress: a gather of the rows that a constant condition names; one that is computed leaves their number to run time.
#include "../Registry.h"

using namespace mlir;

namespace pto_mlir::onnx {

/// The rows that a constant condition keeps.
static LogicalResult importKept(Node &node, Value data, int64_t axis, ArrayRef<int64_t> condition) {
  auto type = cast<RankedTensorType>(data.getType());
  SmallVector<int64_t> kept;
  for (auto [i, isKept] : llvm::enumerate(condition.take_front(type.getDimSize(axis))))
    if (isKept)
      kept.push_back(static_cast<int64_t>(i));
  OpBuilder &b = node.builder();
  if (kept.empty()) {
    SmallVector<int64_t> shape(type.getShape());
    shape[axis] = 0;
    return node.finish(top::createConstant(b, top::namedLoc(b.getContext(), node.outputName()), node.outputName(),
                                           RankedTensorType::get(shape, type.getElementType()), {}));
  }
  auto list = RankedTensorType::get({static_cast<int64_t>(kept.size())}, b.getI64Type());
  Value indices = top::createConstant(b, b.getUnknownLoc(), "indices", list, top::fromInts(b.getI64Type(), kept));
  return node.result<top::GatherOp>({data, indices}, node.i64("axis", axis));
}

static LogicalResult importCompress(Node &node) {
  RankedTensorType type = node.type(0), condition = node.type(1);
  if (condition.getRank() != 1)
    return node.error("condition has rank " + Twine(condition.getRank()) + ", expected 1");
  bool isFlat = !node.attr("axis");
  std::optional<int64_t> axis = isFlat ? 0 : node.axis(node.intAttr("axis", 0), type.getRank());
  if (!axis)
    return failure();
  Value data = node.input(0);
  if (isFlat && type.getRank() != 1)
    data = node.reshape("", data, {type.getNumElements()});
  if (!data)
    return failure();
  type = cast<RankedTensorType>(data.getType());
  if (std::optional<top::Weight> known = node.constant(1))
    return importKept(node, data, *axis, top::toInts(*known));
  int64_t most = std::min(type.getDimSize(*axis), condition.getDimSize(0));
  SmallVector<int64_t> shape(type.getShape());
  shape[*axis] = ShapedType::kDynamic;
  Value result = node.host(node.outputName(), "compress", {data, node.input(1)},
                           RankedTensorType::get(shape, type.getElementType()), "the values decide the number of rows",
                           node.i64("axis", *axis));
  if (!result)
    return failure();
  node.setExtents(result, 0, most);
  node.set(0, result);
  return success();
}

void registerCompress(Registry &registry) {
  registry.add("Compress", {9, kMaxOpset, 2, 2, importCompress, kTakesStrings});
}

} // namespace pto_mlir::onnx
