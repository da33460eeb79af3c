// Gather: folded on constants (shape arithmetic), a slice for consecutive constant indices, else top.gather.
#include "../Registry.h"
#include <cstring>

using namespace mlir;

namespace pto_mlir::onnx {

// The constant indices, normalised to be non-negative; reports an error and returns nullopt when one is out of bounds.
static std::optional<SmallVector<int64_t>> readIndices(Node &node, const top::Weight &indices, int64_t axis,
                                                       int64_t size) {
  SmallVector<int64_t> result;
  for (int64_t index : top::toInts(indices)) {
    if (index < -size || index >= size) {
      (void)node.error("index " + Twine(index) + " is outside of axis " + Twine(axis) + " of size " + Twine(size));
      return std::nullopt;
    }
    result.push_back(index < 0 ? index + size : index);
  }
  return result;
}

static LogicalResult gatherConstant(Node &node, const top::Weight &data, ArrayRef<int64_t> rows, int64_t axis,
                                    ArrayRef<int64_t> result) {
  ArrayRef<int64_t> shape = data.type.getShape();
  int64_t outer = 1, inner = top::elementBytes(data.type.getElementType()), size = shape[axis];
  for (int64_t dim : shape.take_front(axis))
    outer *= dim;
  for (int64_t dim : shape.drop_front(axis + 1))
    inner *= dim;
  std::vector<char> bytes;
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t row : rows) {
      const char *begin = data.bytes.data() + (o * size + row) * inner;
      bytes.insert(bytes.end(), begin, begin + inner);
    }
  auto owner = std::make_shared<const std::vector<char>>(std::move(bytes));
  node.set(0, top::Weight{RankedTensorType::get(result, data.type.getElementType()), ArrayRef<char>(*owner), owner});
  return success();
}

// Rows [first, first + count) of the data, reshaped to the result's shape.
static LogicalResult gatherSlice(Node &node, int64_t first, int64_t count, int64_t axis, ArrayRef<int64_t> result) {
  ArrayRef<int64_t> shape = node.type(0).getShape();
  Value value = node.input(0);
  if (count != shape[axis]) {
    SmallVector<int64_t> starts(shape.size(), 0), ends(shape), steps(shape.size(), 1);
    starts[axis] = first;
    ends[axis] = first + count;
    SmallVector<int64_t> part(shape);
    part[axis] = count;
    StringRef name = ArrayRef<int64_t>(part) == result ? node.outputName() : StringRef();
    value = node.create<top::SliceOp>(
        name, value, {node.i64s("starts", starts), node.i64s("ends", ends), node.i64s("steps", steps)});
  }
  return node.finish(node.reshape(node.outputName(), value, result));
}

static LogicalResult importGather(Node &node) {
  RankedTensorType type = node.type(0), indexType = node.type(1);
  if (!isa<IntegerType>(indexType.getElementType()))
    return node.error("indices must be integers");
  std::optional<int64_t> axis = node.axis(node.intAttr("axis", 0), type.getRank());
  if (!axis)
    return failure();
  SmallVector<int64_t> result(type.getShape().take_front(*axis));
  llvm::append_range(result, indexType.getShape());
  llvm::append_range(result, type.getShape().drop_front(*axis + 1));
  std::optional<top::Weight> data = node.constant(0), indices = node.constant(1);
  if (indices) {
    std::optional<SmallVector<int64_t>> rows = readIndices(node, *indices, *axis, type.getDimSize(*axis));
    if (!rows)
      return failure();
    if (data)
      return gatherConstant(node, *data, *rows, *axis, result);
    int64_t first = rows->empty() ? 0 : rows->front();
    bool run = !rows->empty();
    for (auto [i, row] : llvm::enumerate(*rows))
      run &= row == first + static_cast<int64_t>(i);
    if (run)
      return gatherSlice(node, first, rows->size(), *axis, result);
  }
  return node.result<top::GatherOp>({node.input(0), node.input(1)}, {node.i64("axis", *axis)});
}

void registerGather(Registry &registry) { registry.add("Gather", {7, kMaxOpset, 2, 2, importGather, kTakesStrings}); }

} // namespace pto_mlir::onnx
