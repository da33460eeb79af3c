// RotaryEmbedding of ONNX's own domain and of com.microsoft.
#include "../Registry.h"
#include "AttentionParts.h"

#include "pto_mlir/Support/ElementType.h"

using namespace mlir;

namespace pto_mlir::onnx {
namespace {

// The input as heads: of rank 4, or of rank 3 with the heads in its columns; null after an error.
HeadTensor readInput(Node &node, int64_t heads, int64_t depth) {
  ArrayRef<int64_t> shape = node.type(0).getShape();
  if (shape.size() == 4)
    return {node.input(0), shape[1], false};
  if (shape.size() == 3 && heads == 0 && depth > 0 && shape[2] % depth == 0)
    heads = shape[2] / depth;
  if (shape.size() == 3 && heads > 0 && shape[2] % heads == 0)
    return {node.input(0), heads, true};
  (void)node.error("an input of shape " + pto_mlir::shapeText(shape) +
                   " is neither of rank 4 nor of rank 3 with 'num_heads' heads");
  return {};
}

// The rows of an angle table at the given positions, [batch or 1, rows, columns].
Value angles(Node &node, unsigned table, Value positions) {
  Value value = node.input(table);
  return positions ? node.create<top::GatherOp>("", {value, positions}, {node.i64("axis", 0)}) : value;
}

LogicalResult finishRotation(Node &node, HeadTensor input, unsigned cosine, unsigned sine, Value positions,
                             int64_t rotated, bool interleaved) {
  int64_t columns = node.type(cosine).getShape().empty() ? 0 : node.type(cosine).getShape().back();
  if (rotated == 0)
    rotated = 2 * columns;
  if (rotated < 2 || rotated % 2 || rotated > input.depth() || columns != rotated / 2 ||
      node.type(cosine).getShape() != node.type(sine).getShape())
    return node.error("cannot rotate " + Twine(rotated) + " of " + Twine(input.depth()) + " columns by tables of " +
                      pto_mlir::shapeText(node.type(cosine).getShape()) + " and " +
                      pto_mlir::shapeText(node.type(sine).getShape()));
  Value cos = angles(node, cosine, positions), sin = angles(node, sine, positions);
  if (!cos || !sin)
    return failure();
  ArrayRef<int64_t> shape = cast<RankedTensorType>(cos.getType()).getShape();
  if (shape.size() != 3 || shape[1] != input.rows() || (shape[0] != 1 && shape[0] != input.batch()))
    return node.error("angles of shape " + pto_mlir::shapeText(shape) + " do not fit " + Twine(input.batch()) +
                      " batches of " + Twine(input.rows()) + " rows");
  return node.finish(rotate(node, node.outputName(), input, cos, sin, rotated, interleaved));
}

LogicalResult importRotary(Node &node) {
  bool interleaved = node.intAttr("interleaved", 0) != 0;
  int64_t rotated = node.intAttr("rotary_embedding_dim", 0);
  HeadTensor input = readInput(node, node.intAttr("num_heads", 0), 0);
  if (!input.value)
    return failure();
  Value positions = node.has(3) ? node.input(3) : Value();
  return finishRotation(node, input, 1, 2, positions, rotated, interleaved);
}

// Positions [1] are the first one of all rows, [batch, rows] those of each.
LogicalResult importContribRotary(Node &node) {
  bool interleaved = node.intAttr("interleaved", 0) != 0;
  int64_t rotated = node.intAttr("rotary_embedding_dim", 0), heads = node.intAttr("num_heads", 0);
  if (node.floatAttr("scale", 1) != 1 || node.intAttr("is_packed_batching", 0) != 0)
    return node.error("attributes 'scale' other than 1 and 'is_packed_batching' are not supported");
  int64_t columns = node.type(2).getShape().empty() ? 0 : node.type(2).getShape().back();
  HeadTensor input = readInput(node, heads, rotated ? 0 : 2 * columns);
  if (!input.value)
    return failure();
  if (!areCountable(node, input.rows()))
    return failure();
  Value positions = node.input(1);
  if (node.type(1).getNumElements() == 1 && node.type(1).getRank() < 2) {
    Value steps = castTo(node, counting(node, input.rows(), {1, input.rows()}), node.type(1).getElementType());
    positions = node.create<top::AddOp>("", {steps, node.reshape("", positions, {1, 1})});
  }
  return positions ? finishRotation(node, input, 2, 3, positions, rotated, interleaved) : failure();
}

} // namespace

void registerRotaryEmbedding(Registry &registry) {
  registry.add("RotaryEmbedding", {23, kMaxOpset, 3, 4, importRotary});
  registry.add("com.microsoft.RotaryEmbedding", {1, 1, 4, 4, importContribRotary});
}

} // namespace pto_mlir::onnx
