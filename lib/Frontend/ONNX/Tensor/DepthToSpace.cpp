// DepthToSpace, SpaceToDepth: rearrange blocks of pixels between channels and spatial dimensions.
#include "../Registry.h"

using namespace mlir;

namespace pto_mlir::onnx {

// The block size of an input [N, C, H, W]; nullopt after an error.
static std::optional<int64_t> blockSize(Node &node) {
  int64_t block = node.intAttr("blocksize", 0), rank = node.type(0).getRank();
  if (rank == 4 && block >= 1 && block <= INT16_MAX)
    return block;
  (void)node.error("takes an input of rank 4 and a positive 'blocksize', got rank " + Twine(rank) + " and " +
                   Twine(block));
  return std::nullopt;
}

static LogicalResult shuffle(Node &node, ArrayRef<int64_t> split, ArrayRef<int64_t> perm, ArrayRef<int64_t> merged) {
  Value value = node.reshape("", node.input(0), split);
  value = node.create<top::PermuteOp>("", value, {node.i64s("perm", perm)});
  return node.finish(node.reshape(node.outputName(), value, merged));
}

static LogicalResult importDepthToSpace(Node &node) {
  std::string mode = node.opset() >= 11 ? node.stringAttr("mode", "DCR") : "DCR";
  std::optional<int64_t> block = blockSize(node);
  if (!block)
    return failure();
  if (mode != "DCR" && mode != "CRD")
    return node.error("attribute 'mode' must be DCR or CRD, not '" + mode + "'");
  ArrayRef<int64_t> shape = node.type(0).getShape();
  int64_t b = *block, depth = shape[1] / (b * b);
  if (shape[1] % (b * b))
    return node.error(Twine(shape[1]) + " channels do not divide into blocks of " + Twine(b) + " x " + Twine(b));
  SmallVector<int64_t> merged{shape[0], depth, shape[2] * b, shape[3] * b};
  if (mode == "DCR")
    return shuffle(node, {shape[0], b, b, depth, shape[2], shape[3]}, {0, 3, 4, 1, 5, 2}, merged);
  return shuffle(node, {shape[0], depth, b, b, shape[2], shape[3]}, {0, 1, 4, 2, 5, 3}, merged);
}

static LogicalResult importSpaceToDepth(Node &node) {
  std::optional<int64_t> block = blockSize(node);
  if (!block)
    return failure();
  ArrayRef<int64_t> shape = node.type(0).getShape();
  int64_t b = *block, rows = shape[2] / b, columns = shape[3] / b;
  if (shape[2] % b || shape[3] % b)
    return node.error(Twine(shape[2]) + " x " + Twine(shape[3]) + " pixels do not divide into blocks of " + Twine(b));
  return shuffle(node, {shape[0], shape[1], rows, b, columns, b}, {0, 3, 5, 1, 2, 4},
                 {shape[0], shape[1] * b * b, rows, columns});
}

void registerDepthToSpace(Registry &registry) {
  registry.add("DepthToSpace", {7, kMaxOpset, 1, 1, importDepthToSpace, kTakesStrings});
  registry.add("SpaceToDepth", {7, kMaxOpset, 1, 1, importSpaceToDepth, kTakesStrings});
}

} // namespace pto_mlir::onnx
