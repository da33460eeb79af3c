// NonMaxSuppression: computed by the host program, because the scores decide the number of boxes.
#include "../RunTime/Forms.h"

using namespace mlir;

namespace pto_mlir::onnx {

LogicalResult importNonMaxSuppression(Node &node) {
  RankedTensorType boxes = node.type(0), scores = node.type(1);
  auto mayBe = [](int64_t a, int64_t b) { return a == b || ShapedType::isDynamic(a) || ShapedType::isDynamic(b); };
  if (boxes.getRank() != 3 || !mayBe(boxes.getDimSize(2), 4) || scores.getRank() != 3 ||
      !mayBe(boxes.getDimSize(0), scores.getDimSize(0)) || !mayBe(boxes.getDimSize(1), scores.getDimSize(2)))
    return node.error("expects boxes [B, N, 4] and scores [B, C, N]");
  OpBuilder &b = node.builder();
  auto number = [&](unsigned i, Type element) -> Value {
    if (node.has(i))
      return node.input(i);
    auto type = RankedTensorType::get({1}, element);
    return top::createConstant(b, b.getUnknownLoc(), "none", type,
                               std::vector<char>(element.getIntOrFloatBitWidth() / 8, 0));
  };
  Type i64 = b.getI64Type(), f32 = b.getF32Type();
  SmallVector<Value> operands{node.input(0), node.input(1), number(2, i64), number(3, f32), number(4, f32)};
  if (llvm::is_contained(operands, Value()))
    return failure();
  for (Value value : ArrayRef(operands).drop_front(2))
    if (auto type = cast<RankedTensorType>(value.getType()); !type.hasStaticShape() || type.getNumElements() != 1)
      return node.error("takes limits of one element");
  int64_t perClass = boxes.getDimSize(1);
  if (!node.has(2))
    perClass = 0;
  else if (std::optional<top::Weight> known = node.constant(2))
    perClass = std::clamp<int64_t>(top::toInts(*known).front(), 0, std::max<int64_t>(perClass, 0));
  SmallVector<NamedAttribute> parameters{node.i64("center_point_box", node.intAttr("center_point_box", 0)),
                                         node.i64("has_score_threshold", node.has(4))};
  Value rows =
      node.host(node.outputName(), "nonmaxsuppression", operands, RankedTensorType::get({ShapedType::kDynamic, 3}, i64),
                "the scores decide the number of boxes", parameters);
  if (!rows)
    return failure();
  if (boxes.hasStaticShape() && scores.hasStaticShape())
    node.setExtents(rows, 0, scores.getDimSize(0) * scores.getDimSize(1) * perClass);
  node.set(0, rows);
  return success();
}

void registerNonMaxSuppression(Registry &registry) {
  registry.add("NonMaxSuppression", {10, kMaxOpset, 2, 5, importNonMaxSuppression});
}

} // namespace pto_mlir::onnx
