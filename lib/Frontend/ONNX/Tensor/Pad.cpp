// Pad with a constant: pads are an attribute before opset 11, an input since.
#include "../Registry.h"

using namespace mlir;

namespace pto_mlir::onnx {

static LogicalResult importPad(Node &node) {
  int64_t rank = node.type(0).getRank();
  std::string mode = node.stringAttr("mode", "constant");
  if (mode != "constant")
    return node.error("mode '" + mode + "' is not supported");
  std::optional<SmallVector<int64_t>> given;
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  double value = 0;
  if (node.opset() < 11) {
    given = node.intsAttr("pads");
    value = node.floatAttr("value", 0);
    if (!given)
      return node.error("lacks attribute 'pads'");
  } else {
    given = node.ints(1, "pads");
    if (node.has(2)) {
      std::optional<top::Weight> constant = node.constant(2);
      if (!constant || constant->type.getNumElements() != 1)
        return node.error("the pad value must be one constant");
      value = top::toDoubles(*constant).front();
    }
    if (node.has(3)) {
      std::optional<SmallVector<int64_t>> list = node.ints(3, "axes");
      if (!list || !node.axes(*list, rank))
        return failure();
      axes = *list;
    }
    if (!given)
      return failure();
  }
  if (given->size() != 2 * axes.size())
    return node.error("takes " + Twine(2 * axes.size()) + " pads, got " + Twine(given->size()));
  SmallVector<int64_t> pads(2 * rank, 0);
  for (auto [i, axis] : llvm::enumerate(axes)) {
    int64_t dim = axis < 0 ? axis + rank : axis;
    pads[dim] = (*given)[i];
    pads[rank + dim] = (*given)[axes.size() + i];
  }
  if (llvm::any_of(pads, [](int64_t pad) { return pad < 0; }))
    return node.error("negative pads are not supported");
  if (llvm::all_of(pads, [](int64_t pad) { return pad == 0; }))
    return node.finish(node.input(0));
  return node.result<top::PadOp>(node.input(0), {node.i64s("pads", pads), node.f64("value", value)});
}

void registerPad(Registry &registry) {
  registry.add("Pad", {7, 10, 1, 1, importPad});
  registry.add("Pad", {11, 17, 2, 3, importPad});
  registry.add("Pad", {18, kMaxOpset, 2, 4, importPad});
}

} // namespace pto_mlir::onnx
