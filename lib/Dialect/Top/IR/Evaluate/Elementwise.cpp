// Evaluation of elementwise ops and cast. Floats are computed in double and rounded once; integers in 64 bits,
// wrapping.
#include "Evaluate.h"

#include "pto_mlir/Dialect/Top/IR/Constants.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;

namespace pto_mlir::top {

using Float1 = double (*)(double);
using Float2 = double (*)(double, double);
using Int2 = int64_t (*)(int64_t, int64_t);

static Float1 floatUnary(Operation *op) {
  return llvm::TypeSwitch<Operation *, Float1>(op)
      .Case([](ReluOp) { return [](double x) { return x < 0 ? 0 : x; }; })
      .Case([](AbsOp) { return [](double x) { return std::fabs(x); }; })
      .Case([](NegOp) { return [](double x) { return -x; }; })
      .Case([](SigmoidOp) { return [](double x) { return 1 / (1 + std::exp(-x)); }; })
      .Case([](TanhOp) { return [](double x) { return std::tanh(x); }; })
      .Case([](ExpOp) { return [](double x) { return std::exp(x); }; })
      .Case([](LogOp) { return [](double x) { return std::log(x); }; })
      .Case([](SqrtOp) { return [](double x) { return std::sqrt(x); }; })
      .Case([](ReciprocalOp) { return [](double x) { return 1 / x; }; })
      .Case([](ErfOp) { return [](double x) { return std::erf(x); }; })
      .Case([](RoundOp) { return [](double x) { return std::nearbyint(x); }; })
      .Case([](FloorOp) { return [](double x) { return std::floor(x); }; })
      .Case([](CeilOp) { return [](double x) { return std::ceil(x); }; })
      .Case([](SignOp) { return [](double x) {
                           return x > 0 ? 1.0 : x < 0 ? -1.0 : x;
                         }; })
      .Case([](SinOp) { return [](double x) { return std::sin(x); }; })
      .Case([](CosOp) { return [](double x) { return std::cos(x); }; })
      .Case([](TanOp) { return [](double x) { return std::tan(x); }; })
      .Case([](AsinOp) { return [](double x) { return std::asin(x); }; })
      .Case([](AcosOp) { return [](double x) { return std::acos(x); }; })
      .Case([](AtanOp) { return [](double x) { return std::atan(x); }; })
      .Case([](AsinhOp) { return [](double x) { return std::asinh(x); }; })
      .Case([](AcoshOp) { return [](double x) { return std::acosh(x); }; })
      .Case([](AtanhOp) { return [](double x) { return std::atanh(x); }; })
      .Default([](Operation *) { return nullptr; });
}

static Float2 floatBinary(Operation *op) {
  return llvm::TypeSwitch<Operation *, Float2>(op)
      .Case([](AddOp) { return [](double a, double b) { return a + b; }; })
      .Case([](SubOp) { return [](double a, double b) { return a - b; }; })
      .Case([](MulOp) { return [](double a, double b) { return a * b; }; })
      .Case([](DivOp) { return [](double a, double b) { return a / b; }; })
      .Case([](PowOp) { return [](double a, double b) { return std::pow(a, b); }; })
      .Case([](MaxOp) { return [](double a, double b) { return std::isnan(a) || a > b ? a : b; }; })
      .Case([](MinOp) { return [](double a, double b) { return std::isnan(a) || a < b ? a : b; }; })
      .Default([](Operation *) { return nullptr; });
}

static int64_t wrap(uint64_t value) { return static_cast<int64_t>(value); }

static Int2 intBinary(Operation *op) {
  return llvm::TypeSwitch<Operation *, Int2>(op)
      .Case([](AddOp) { return [](int64_t a, int64_t b) { return wrap(uint64_t(a) + uint64_t(b)); }; })
      .Case([](SubOp) { return [](int64_t a, int64_t b) { return wrap(uint64_t(a) - uint64_t(b)); }; })
      .Case([](MulOp) { return [](int64_t a, int64_t b) { return wrap(uint64_t(a) * uint64_t(b)); }; })
      .Case([](DivOp) { return [](int64_t a, int64_t b) { return b == -1 ? wrap(-uint64_t(a)) : a / b; }; })
      .Case([](MaxOp) { return [](int64_t a, int64_t b) { return std::max(a, b); }; })
      .Case([](MinOp) { return [](int64_t a, int64_t b) { return std::min(a, b); }; })
      .Case([](BitAndOp) { return [](int64_t a, int64_t b) { return a & b; }; })
      .Case([](BitOrOp) { return [](int64_t a, int64_t b) { return a | b; }; })
      .Case([](BitXorOp) { return [](int64_t a, int64_t b) { return a ^ b; }; })
      .Default([](Operation *) { return nullptr; });
}

using Int1 = int64_t (*)(int64_t);

static Int1 intUnary(Operation *op) {
  return llvm::TypeSwitch<Operation *, Int1>(op)
      .Case([](NegOp) { return [](int64_t x) { return wrap(-uint64_t(x)); }; })
      .Case([](AbsOp) { return [](int64_t x) { return x < 0 ? wrap(-uint64_t(x)) : x; }; })
      .Default([](Operation *) { return nullptr; });
}

// Applies fn to the elements of two tensors broadcast to `shape`.
template <typename T, typename Fn>
static std::vector<T> broadcast(ArrayRef<int64_t> shape, const Weight &a, const Weight &b, ArrayRef<T> va,
                                ArrayRef<T> vb, Fn fn) {
  std::vector<int64_t> oa = broadcastOffsets(shape, a), ob = broadcastOffsets(shape, b);
  std::vector<T> result;
  result.reserve(oa.size());
  for (auto [i, j] : llvm::zip_equal(oa, ob))
    result.push_back(fn(va[i], vb[j]));
  return result;
}

std::optional<std::vector<char>> evaluateElementwise(Operation *op, ArrayRef<Weight> operands) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  Type element = type.getElementType();
  bool fromInt = isa<IntegerType>(operands[0].type.getElementType());
  if (isa<CastOp>(op))
    return fromInt ? fromInts(element, toInts(operands[0])) : fromDoubles(element, toDoubles(operands[0]));
  // Unsigned 64-bit values do not fit into the signed arithmetic below.
  if (element.isUnsignedInteger(64))
    return std::nullopt;
  if (Int2 fn = fromInt ? intBinary(op) : nullptr) {
    std::vector<int64_t> a = toInts(operands[0]), b = toInts(operands[1]);
    if (isa<DivOp>(op) && llvm::is_contained(b, 0))
      return std::nullopt;
    return fromInts(element, broadcast<int64_t>(type.getShape(), operands[0], operands[1], a, b, fn));
  }
  if (Int1 fn = fromInt ? intUnary(op) : nullptr) {
    std::vector<int64_t> values = toInts(operands[0]);
    llvm::transform(values, values.begin(), fn);
    return fromInts(element, values);
  }
  if (fromInt)
    return std::nullopt;
  if (Float2 fn = floatBinary(op))
    return fromDoubles(element, broadcast<double>(type.getShape(), operands[0], operands[1], toDoubles(operands[0]),
                                                  toDoubles(operands[1]), fn));
  if (Float1 fn = floatUnary(op)) {
    std::vector<double> values = toDoubles(operands[0]);
    llvm::transform(values, values.begin(), fn);
    return fromDoubles(element, values);
  }
  return std::nullopt;
}

} // namespace pto_mlir::top
