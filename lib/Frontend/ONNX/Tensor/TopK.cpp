// TopK: values and positions of the k greatest or least elements along an axis.
#include "../Composite.h"
#include "../Registry.h"

using namespace mlir;

namespace pto_mlir::onnx {

namespace {

/// An axis moved to the end of a tensor, and back.
class LastAxis {
public:
  LastAxis(Node &node, int64_t rank, int64_t axis) : node(node), perm(llvm::to_vector(llvm::seq<int64_t>(0, rank))) {
    std::swap(perm[axis], perm.back());
    moves = axis + 1 != rank;
  }
  Value swapped(StringRef name, Value value) {
    return moves && value ? node.create<top::PermuteOp>(name, value, {node.i64s("perm", perm)}) : value;
  }
  /// The name of what becomes output `i` by swapping it back.
  StringRef nameBefore(unsigned i) const { return moves ? StringRef() : node.outputName(i); }

private:
  Node &node;
  SmallVector<int64_t> perm;
  bool moves;
};

/// Both results for rows.
class TopK {
public:
  TopK(Node &node, int64_t k, bool largest) : node(node), f(node), k(k), largest(largest) {}

  template <typename OpTy> Value select(StringRef name, Value rows, int64_t count) {
    return rows ? node.create<OpTy>(name, rows, {node.i64("k", count), node.flag("largest", largest)}) : rows;
  }

  /// The two digits of unsigned integers of 32 bits, whose upper half an i32 does not hold.
  std::pair<Value, Value> unsignedDigits(Value rows, double digit) {
    Value quotient = f.of<top::DivOp>(rows, digit);
    Value rest = quotient ? f.of<top::SubOp>(rows, f.of<top::MulOp>(quotient, digit)) : quotient;
    Type element = node.builder().getI32Type();
    return {castTo(node, quotient, element), castTo(node, rest, element)};
  }

  /// Integers of 32 and 64 bits in two stable passes over their digits, the low one first: f32 holds a digit.
  std::pair<Value, Value> ofIntegers(Value rows, StringRef valueName, StringRef placeName) {
    constexpr double kDigit = 65536;
    // The device keeps 64-bit integers in 32 bits.
    Type element = node.builder().getI32Type();
    if (getElementTypeOrSelf(rows.getType()).isUnsignedInteger(32)) {
      auto [high, low] = unsignedDigits(rows, kDigit);
      return byDigits(rows, high, low, valueName, placeName);
    }
    Value number = castTo(node, rows, element);
    Value quotient = f.of<top::DivOp>(number, kDigit);
    Value rest = quotient ? f.of<top::SubOp>(number, f.of<top::MulOp>(quotient, kDigit)) : quotient;
    Value negative = f.isLess(rest, 0);
    Value borrow = negative ? f.of<top::CastOp>(negative, {node.named("to", TypeAttr::get(element))}) : negative;
    Value high = borrow ? f.of<top::SubOp>(quotient, borrow) : borrow;
    Value low = borrow ? f.of<top::AddOp>(rest, f.of<top::MulOp>(borrow, kDigit)) : borrow;
    return byDigits(rows, high, low, valueName, placeName);
  }

private:
  std::pair<Value, Value> byDigits(Value rows, Value high, Value low, StringRef valueName, StringRef placeName) {
    int64_t size = cast<RankedTensorType>(rows.getType()).getShape().back();
    Value byLow = select<top::TopKIndicesOp>("", low, size);
    Value byHigh = select<top::TopKIndicesOp>("", gathered("", high, byLow), k);
    Value places = gathered(placeName, byLow, byHigh);
    return {gathered(valueName, rows, places), places};
  }

  Value gathered(StringRef name, Value rows, Value places) {
    return rows && places ? node.create<top::GatherElementsOp>(name, {rows, places}) : Value();
  }

  Node &node;
  Formula f;
  int64_t k;
  bool largest;
};

} // namespace

static LogicalResult importTopK(Node &node, int64_t k) {
  RankedTensorType type = node.type(0);
  std::optional<int64_t> axis = node.axis(node.intAttr("axis", -1), type.getRank());
  bool largest = node.opset() < 11 || node.intAttr("largest", 1);
  if (node.opset() >= 11)
    (void)node.intAttr("sorted", 1); // unsorted results may come in any order
  if (!axis)
    return failure();
  if (k < 1 || k > type.getDimSize(*axis))
    return node.error("k is " + Twine(k) + ", and axis " + Twine(*axis) + " has " + Twine(type.getDimSize(*axis)) +
                      " elements");
  Type element = type.getElementType();
  LastAxis last(node, type.getRank(), *axis);
  Value rows = last.swapped("", node.input(0)), values, places;
  if (!rows)
    return failure();
  TopK topK(node, k, largest);
  if (element.isSignlessInteger(32) || element.isSignlessInteger(64) || element.isUnsignedInteger(32)) {
    std::tie(values, places) = topK.ofIntegers(rows, last.nameBefore(0), last.nameBefore(1));
  } else {
    if (node.wantsOutput(0))
      values = topK.select<top::TopKValuesOp>(last.nameBefore(0), rows, k);
    if (node.wantsOutput(1))
      places = topK.select<top::TopKIndicesOp>(last.nameBefore(1), rows, k);
  }
  for (unsigned i = 0; i < 2; ++i) {
    if (!node.wantsOutput(i))
      continue;
    Value back = last.swapped(node.outputName(i), i == 0 ? values : places);
    if (!back)
      return failure();
    node.set(i, back);
  }
  return success();
}

static LogicalResult importTopK1(Node &node) { return importTopK(node, node.intAttr("k", 0)); }

static LogicalResult importTopK10(Node &node) {
  std::optional<SmallVector<int64_t>> k = node.ints(1, "k");
  if (!k)
    return failure();
  return k->size() == 1 ? importTopK(node, k->front()) : node.error("takes one k");
}

void registerTopK(Registry &registry) {
  registry.add("TopK", {7, 9, 1, 1, importTopK1});
  registry.add("TopK", {10, kMaxOpset, 2, 2, importTopK10});
}

} // namespace pto_mlir::onnx
