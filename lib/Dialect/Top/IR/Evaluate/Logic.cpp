// Evaluation of comparisons, logic and selection. Booleans take one byte per element, as i1 is stored.
#include "Evaluate.h"

#include "pto_mlir/Dialect/Top/IR/Constants.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace pto_mlir::top {

using Bytes = std::optional<std::vector<char>>;

template <typename T> static bool holds(StringRef mode, T a, T b) {
  if (mode == "eq")
    return a == b;
  if (mode == "lt")
    return a < b;
  if (mode == "le")
    return a <= b;
  return mode == "gt" ? a > b : a >= b;
}

static Bytes compare(CompareOp op, ArrayRef<Weight> operands) {
  ArrayRef<int64_t> shape = op.getOutput().getType().getShape();
  Type element = operands[0].type.getElementType();
  if (element.isUnsignedInteger(64))
    return std::nullopt;
  std::vector<int64_t> a = broadcastOffsets(shape, operands[0]), b = broadcastOffsets(shape, operands[1]), bits;
  auto fill = [&](const auto &va, const auto &vb) {
    for (auto [i, j] : llvm::zip_equal(a, b))
      bits.push_back(holds(op.getMode(), va[i], vb[j]));
  };
  if (isa<IntegerType>(element))
    fill(toInts(operands[0]), toInts(operands[1]));
  else
    fill(toDoubles(operands[0]), toDoubles(operands[1]));
  return fromInts(op.getOutput().getType().getElementType(), bits);
}

template <typename Fn> static Bytes combine(Operation *op, ArrayRef<Weight> operands, Fn fn) {
  auto type = cast<RankedTensorType>(op->getResultTypes()[0]);
  std::vector<int64_t> va = toInts(operands[0]), vb = toInts(operands[1]), bits;
  for (auto [i, j] :
       llvm::zip_equal(broadcastOffsets(type.getShape(), operands[0]), broadcastOffsets(type.getShape(), operands[1])))
    bits.push_back(fn(va[i] != 0, vb[j] != 0));
  return fromInts(type.getElementType(), bits);
}

static Bytes where(WhereOp op, ArrayRef<Weight> operands) {
  auto type = op.getOutput().getType();
  int64_t size = elementBytes(type.getElementType());
  std::vector<int64_t> chosen = toInts(operands[0]);
  std::vector<int64_t> offsets[3];
  for (int i = 0; i < 3; ++i)
    offsets[i] = broadcastOffsets(type.getShape(), operands[i]);
  std::vector<char> bytes;
  for (size_t i = 0; i < offsets[0].size(); ++i) {
    int side = chosen[offsets[0][i]] ? 1 : 2;
    const char *element = operands[side].bytes.data() + offsets[side][i] * size;
    bytes.insert(bytes.end(), element, element + size);
  }
  return bytes;
}

Bytes evaluateLogic(Operation *op, ArrayRef<Weight> operands) {
  return llvm::TypeSwitch<Operation *, Bytes>(op)
      .Case([&](CompareOp op) { return compare(op, operands); })
      .Case([&](AndOp op) { return combine(op, operands, [](bool a, bool b) { return a && b; }); })
      .Case([&](OrOp op) { return combine(op, operands, [](bool a, bool b) { return a || b; }); })
      .Case([&](XorOp op) { return combine(op, operands, [](bool a, bool b) { return a != b; }); })
      .Case([&](NotOp op) {
        std::vector<int64_t> values = toInts(operands[0]);
        for (int64_t &value : values)
          value = !value;
        return Bytes(fromInts(op.getOutput().getType().getElementType(), values));
      })
      .Case([&](WhereOp op) { return where(op, operands); })
      .Default([](Operation *) { return std::nullopt; });
}

} // namespace pto_mlir::top
