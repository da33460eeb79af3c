// Evaluation of ops that move elements: each output element is a copy of one input element or of the pad value.
#include "Evaluate.h"

#include "pto_mlir/Dialect/Top/IR/Constants.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cstring>

using namespace mlir;

namespace pto_mlir::top {

using Bytes = std::optional<std::vector<char>>;

static Bytes permute(PermuteOp op, const Weight &input) {
  auto type = op.getOutput().getType();
  int64_t size = elementBytes(type.getElementType());
  SmallVector<int64_t> in = rowMajorStrides(input.type.getShape()), strides;
  for (int64_t dim : op.getPerm())
    strides.push_back(in[dim]);
  std::vector<char> bytes(input.bytes.size());
  char *out = bytes.data();
  forEachOffset(type.getShape(), strides, 0, [&](int64_t offset) {
    std::memcpy(out, input.bytes.data() + offset * size, size);
    out += size;
  });
  return bytes;
}

static Bytes slice(SliceOp op, const Weight &input) {
  auto type = op.getOutput().getType();
  int64_t size = elementBytes(type.getElementType()), base = 0;
  SmallVector<int64_t> strides = rowMajorStrides(input.type.getShape());
  for (auto [stride, start, step] : llvm::zip_equal(strides, op.getStarts(), op.getSteps())) {
    base += start * stride;
    stride *= step;
  }
  std::vector<char> bytes;
  forEachOffset(type.getShape(), strides, base, [&](int64_t offset) {
    const char *element = input.bytes.data() + offset * size;
    bytes.insert(bytes.end(), element, element + size);
  });
  return bytes;
}

// Copies a tensor into a box of a larger row-major tensor.
static void place(const Weight &input, RankedTensorType type, int64_t base, std::vector<char> &bytes) {
  int64_t size = elementBytes(type.getElementType());
  const char *in = input.bytes.data();
  forEachOffset(input.type.getShape(), rowMajorStrides(type.getShape()), base, [&](int64_t offset) {
    std::memcpy(bytes.data() + offset * size, in, size);
    in += size;
  });
}

static Bytes concat(ConcatOp op, ArrayRef<Weight> operands) {
  auto type = op.getOutput().getType();
  int64_t stride = rowMajorStrides(type.getShape())[op.getAxis()], base = 0;
  std::vector<char> bytes(*tensorBytes(type));
  for (const Weight &operand : operands) {
    place(operand, type, base, bytes);
    base += operand.type.getDimSize(op.getAxis()) * stride;
  }
  return bytes;
}

static Bytes pad(PadOp op, const Weight &input) {
  auto type = op.getOutput().getType();
  std::vector<char> bytes =
      fromDoubles(type.getElementType(), std::vector<double>(type.getNumElements(), op.getValue().convertToDouble()));
  int64_t base = 0;
  for (auto [stride, begin] : llvm::zip_first(rowMajorStrides(type.getShape()), op.getPads()))
    base += stride * begin;
  place(input, type, base, bytes);
  return bytes;
}

static Bytes expand(ExpandOp op, const Weight &input) {
  auto type = op.getOutput().getType();
  int64_t size = elementBytes(type.getElementType());
  std::vector<char> bytes;
  for (int64_t offset : broadcastOffsets(type.getShape(), input)) {
    const char *element = input.bytes.data() + offset * size;
    bytes.insert(bytes.end(), element, element + size);
  }
  return bytes;
}

static Bytes gather(GatherOp op, const Weight &data, const Weight &indices) {
  ArrayRef<int64_t> shape = data.type.getShape();
  int64_t outer = 1, inner = elementBytes(data.type.getElementType()), size = shape[op.getAxis()];
  for (int64_t dim : shape.take_front(op.getAxis()))
    outer *= dim;
  for (int64_t dim : shape.drop_front(op.getAxis() + 1))
    inner *= dim;
  std::vector<int64_t> rows = toInts(indices);
  std::vector<char> bytes;
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t row : rows) {
      row = std::clamp<int64_t>(row < 0 ? row + size : row, 0, size - 1);
      const char *begin = data.bytes.data() + (o * size + row) * inner;
      bytes.insert(bytes.end(), begin, begin + inner);
    }
  return bytes;
}

Bytes evaluateMovement(Operation *op, ArrayRef<Weight> operands) {
  return llvm::TypeSwitch<Operation *, Bytes>(op)
      .Case([&](PermuteOp op) { return permute(op, operands[0]); })
      .Case([&](SliceOp op) { return slice(op, operands[0]); })
      .Case([&](ConcatOp op) { return concat(op, operands); })
      .Case([&](PadOp op) { return pad(op, operands[0]); })
      .Case([&](ExpandOp op) { return expand(op, operands[0]); })
      .Case([&](GatherOp op) { return gather(op, operands[0], operands[1]); })
      .Default([](Operation *) { return std::nullopt; });
}

} // namespace pto_mlir::top
