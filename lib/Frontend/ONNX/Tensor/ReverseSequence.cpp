// ReverseSequence: the first elements of each sequence of a batch in reverse order, as rows at computed places.
#include "../Composite.h"
#include "../Registry.h"
#include "Positions.h"

using namespace mlir;

namespace pto_mlir::onnx {

static LogicalResult importReverseSequence(Node &node) {
  RankedTensorType type = node.type(0);
  ArrayRef<int64_t> shape = type.getShape();
  int64_t batchAxis = node.intAttr("batch_axis", 1), timeAxis = node.intAttr("time_axis", 0);
  if (shape.size() < 2 || std::minmax({batchAxis, timeAxis}) != std::pair<int64_t, int64_t>(0, 1))
    return node.error("takes batch and time as dimensions 0 and 1, in any order");
  int64_t steps = shape[timeAxis], batch = shape[batchAxis];
  if (node.type(1).getShape() != ArrayRef<int64_t>{batch})
    return node.error("expects " + Twine(batch) + " lengths, got shape " + shapeText(node.type(1).getShape()));
  SmallVector<int64_t> along{1, 1}, rows{steps * batch};
  along[batchAxis] = batch;
  llvm::append_range(rows, shape.drop_front(2));
  Formula f(node);
  Value length = node.reshape("", node.input(1), along), step = rangeAlong(node, 2, timeAxis, steps);
  Value mirrored = length ? f.of<top::SubOp>(f.of<top::SubOp>(length, 1.0), step) : length;
  Value from = f.where(f.compare(step, "lt", length), mirrored, step);
  Value place = from ? f.of<top::AddOp>(f.of<top::MulOp>(from, timeAxis == 0 ? double(batch) : 1.0),
                                        rangeAlong(node, 2, batchAxis, batch, batchAxis == 0 ? steps : 1))
                     : from;
  place = place ? node.reshape("", place, {steps * batch}) : place;
  Value data = node.reshape("", node.input(0), rows);
  Value result = place && data ? node.create<top::GatherOp>("", {data, place}, {node.i64("axis", 0)}) : Value();
  return result ? node.finish(node.reshape(node.outputName(), result, shape)) : failure();
}

void registerReverseSequence(Registry &registry) {
  registry.add("ReverseSequence", {10, kMaxOpset, 2, 2, importReverseSequence, kTakesStrings});
}

} // namespace pto_mlir::onnx
