#include "../Composite.h"
#include "../Registry.h"

using namespace mlir;

namespace pto_mlir::onnx {

// The upper or lower triangle of matrices; the rest is 0.
static LogicalResult importTrilu(Node &node) {
  RankedTensorType type = node.type(0);
  bool upper = node.intAttr("upper", 1) != 0;
  int64_t diagonal = 0;
  if (type.getRank() < 2)
    return node.error("takes matrices, got rank " + Twine(type.getRank()));
  if (node.has(1)) {
    std::optional<SmallVector<int64_t>> k = node.ints(1, "the diagonal");
    if (!k || k->size() != 1)
      return node.hasErrors() ? failure() : node.error("the diagonal must be one number");
    diagonal = k->front();
  }
  ArrayRef<int64_t> shape = type.getShape().take_back(2);
  if (!node.mayBuild(shape))
    return failure();
  diagonal = std::clamp<int64_t>(diagonal, -shape[0], shape[1]);
  std::vector<int64_t> kept;
  for (int64_t row = 0; row < shape[0]; ++row)
    for (int64_t column = 0; column < shape[1]; ++column)
      kept.push_back(upper ? column >= row + diagonal : column <= row + diagonal);
  OpBuilder &b = node.builder();
  Value mask = top::createConstant(b, b.getUnknownLoc(), (node.outputName() + "_triangle").str(),
                                   RankedTensorType::get(shape, b.getI1Type()), top::fromInts(b.getI1Type(), kept));
  return node.result<top::WhereOp>({mask, node.input(0), Formula(node).constant(node.input(0), 0)});
}

void registerTrilu(Registry &registry) { registry.add("Trilu", {14, kMaxOpset, 1, 2, importTrilu}); }

} // namespace pto_mlir::onnx
