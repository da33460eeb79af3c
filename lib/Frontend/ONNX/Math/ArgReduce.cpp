// ArgMax and ArgMin: the least (or greatest) position among those whose element equals the extremum.
#include "../Composite.h"
#include "../Registry.h"
#include "../Tensor/Positions.h"

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
  Value position = rangeAlong(node, rank, *axis, size);
  Formula f(node);
  Value extremum = f.over<ExtremumOp>(node.input(0), *axis);
  if (!extremum)
    return failure();
  Value found = f.compare(node.input(0), "eq", extremum);
  // The one that loses to every position, so that a row of NaN still gives a position.
  Value none = f.constant(position, last ? 0 : size - 1);
  Value candidates = f.where(found, position, none);
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
