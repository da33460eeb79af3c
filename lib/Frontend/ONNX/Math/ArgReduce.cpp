// ArgMax and ArgMin: the least (or greatest) position among those whose element equals the extremum.
#include "../Composite.h"
#include "../Registry.h"

using namespace mlir;

namespace pto_mlir::onnx {

template <typename ExtremumOp> static LogicalResult importArgReduce(Node &node) {
  RankedTensorType type = node.type(0);
  int64_t rank = type.getRank();
  bool keepdims = node.intAttr("keepdims", 1), last = node.opset() >= 12 && node.intAttr("select_last_index", 0);
  std::optional<int64_t> axis = node.axis(node.intAttr("axis", 0), rank);
  if (!axis)
    return failure();
  int64_t size = type.getDimSize(*axis);
  OpBuilder &b = node.builder();
  SmallVector<int64_t> shape(rank, 1), positions = llvm::to_vector(llvm::seq<int64_t>(0, size));
  shape[*axis] = size;
  Value position = top::createConstant(b, b.getUnknownLoc(), "positions", RankedTensorType::get(shape, b.getI64Type()),
                                       top::fromInts(b.getI64Type(), positions));
  Formula f(node);
  Value extremum = f.over<ExtremumOp>(node.input(0), *axis);
  if (!extremum)
    return failure();
  Value found = node.create<top::CompareOp>("", {node.input(0), extremum}, {node.named("mode", b.getStringAttr("eq"))});
  // The one that loses to every position, so that a row of NaN still gives a position.
  Value none = f.constant(position, last ? 0 : size - 1);
  Value candidates = found ? node.create<top::WhereOp>("", {found, position, none}) : found;
  if (!candidates)
    return failure();
  SmallVector<NamedAttribute> attributes{node.i64s("axes", *axis), node.flag("keepdims", keepdims)};
  return last ? f.result<top::ReduceMaxOp>(candidates, attributes) : f.result<top::ReduceMinOp>(candidates, attributes);
}

void registerArgReduce(Registry &registry) {
  registry.add("ArgMax", {7, kMaxOpset, 1, 1, importArgReduce<top::ReduceMaxOp>});
  registry.add("ArgMin", {7, kMaxOpset, 1, 1, importArgReduce<top::ReduceMinOp>});
}

} // namespace pto_mlir::onnx
