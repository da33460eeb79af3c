// Operations on each element of operands that broadcast.
#include "Wide.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <type_traits>

namespace pto_mlir::hostops {

namespace {

template <class V> using Unary = V (*)(V);
template <class V> using Binary = V (*)(V, V);
template <class V> struct UnaryRow {
  std::string_view name;
  Unary<V> function;
};
template <class V> struct BinaryRow {
  std::string_view name;
  Binary<V> function;
};

template <class V> constexpr bool isSmaller(V a, V b) { return a < b; }

// The quotient toward zero; the least number divided by -1 wraps to itself.
template <class V> V quotient(V a, V b) {
  if constexpr (std::is_same_v<V, int64_t>)
    return b == -1 ? V(0 - uint64_t(a)) : a / b;
  else
    return a / b;
}
// The remainder with the divisor's sign.
template <class V> V floorRemainder(V a, V b) {
  if constexpr (std::is_floating_point_v<V>) {
    V rest = std::fmod(a, b);
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest == 0 ? std::copysign(rest, b) : rest;
  } else if constexpr (std::is_signed_v<V>) {
    V rest = b == -1 ? 0 : a % b;
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
  } else {
    return a % b;
  }
}
template <class V> V remainder(V a, V b) {
  if constexpr (std::is_floating_point_v<V>)
    return std::fmod(a, b);
  else if constexpr (std::is_signed_v<V>)
    return b == -1 ? 0 : a % b;
  else
    return a % b;
}
// Products modulo 2^64; a negative exponent gives the fraction's integer part.
template <class V> V power(V a, V b) {
  if constexpr (std::is_floating_point_v<V>) {
    return std::pow(a, b);
  } else {
    if (isSmaller(b, V(0)))
      return a == 1 ? 1 : a == V(-1) ? (b % 2 ? a : 1) : 0;
    uint64_t base = uint64_t(a), result = 1;
    for (uint64_t rest = uint64_t(b); rest; rest >>= 1, base *= base)
      if (rest & 1)
        result *= base;
    return V(result);
  }
}

// ONNX's maximum and minimum: NaN if one operand is.
template <class V>
constexpr BinaryRow<V> arithmetic[] = {
    {"add", sum<V>},
    {"sub", difference<V>},
    {"mul", product<V>},
    {"div", quotient<V>},
    {"mod", floorRemainder<V>},
    {"fmod", remainder<V>},
    {"pow", power<V>},
    {"max", [](V a, V b) -> V { return a != a || a > b ? a : b; }},
    {"min", [](V a, V b) -> V { return a != a || a < b ? a : b; }},
};
// Shifts of signed numbers keep the sign.
template <class V>
constexpr BinaryRow<V> bitwise[] = {
    {"bitand", [](V a, V b) -> V { return a & b; }},
    {"bitor", [](V a, V b) -> V { return a | b; }},
    {"bitxor", [](V a, V b) -> V { return a ^ b; }},
    {"shl", [](V a, V b) -> V { return uint64_t(b) > 63 ? V(0) : V(uint64_t(a) << b); }},
    {"shr", [](V a, V b) -> V { return uint64_t(b) > 63 ? V(a < 0 ? -1 : 0) : V(a >> b); }},
};
constexpr BinaryRow<int64_t> logic[] = {
    {"and", [](int64_t a, int64_t b) -> int64_t { return a && b; }},
    {"or", [](int64_t a, int64_t b) -> int64_t { return a || b; }},
    {"xor", [](int64_t a, int64_t b) -> int64_t { return (a != 0) != (b != 0); }},
};
template <class V>
constexpr UnaryRow<V> signs[] = {
    {"neg", [](V x) -> V { return difference(V(0), x); }},
    {"abs", [](V x) -> V { return x < 0 ? difference(V(0), x) : x; }},
    {"relu", [](V x) -> V { return x < 0 ? 0 : x; }},
    {"sign", [](V x) -> V { return x > 0   ? V(1)
                                   : x < 0 ? V(-1)
                                           : x; }},
};
constexpr UnaryRow<double> functions[] = {
    {"neg", [](double x) { return -x; }},
    {"abs", [](double x) { return std::fabs(x); }},
    {"sigmoid", [](double x) { return 1 / (1 + std::exp(-x)); }},
    {"reciprocal", [](double x) { return 1 / x; }},
    {"tanh", [](double x) { return std::tanh(x); }},
    {"exp", [](double x) { return std::exp(x); }},
    {"log", [](double x) { return std::log(x); }},
    {"sqrt", [](double x) { return std::sqrt(x); }},
    {"erf", [](double x) { return std::erf(x); }},
    {"round", [](double x) { return std::nearbyint(x); }},
    {"floor", [](double x) { return std::floor(x); }},
    {"ceil", [](double x) { return std::ceil(x); }},
    {"sin", [](double x) { return std::sin(x); }},
    {"cos", [](double x) { return std::cos(x); }},
    {"tan", [](double x) { return std::tan(x); }},
    {"asin", [](double x) { return std::asin(x); }},
    {"acos", [](double x) { return std::acos(x); }},
    {"atan", [](double x) { return std::atan(x); }},
    {"asinh", [](double x) { return std::asinh(x); }},
    {"acosh", [](double x) { return std::acosh(x); }},
    {"atanh", [](double x) { return std::atanh(x); }},
    {"sinh", [](double x) { return std::sinh(x); }},
    {"cosh", [](double x) { return std::cosh(x); }},
    {"expm1", [](double x) { return std::expm1(x); }},
    {"log1p", [](double x) { return std::log1p(x); }},
    {"hard_swish", [](double x) { return x * std::max(0.0, std::min(1.0, x / 6 + 0.5)); }},
    // x times the normal distribution's Phi(x); by its complement, which keeps the digits of small results. Exponents
    // are in long double, because their rounding becomes the result's, times their size.
    {"gelu",
     [](double x) {
       long double argument = -x * std::numbers::sqrt2_v<long double> / 2;
       return x == -HUGE_VAL ? -0.0 : double(x / 2 * std::erfc(argument));
     }},
    // x / 2 (1 + tanh(u)) = x / (1 + exp(-2 u)), u = sqrt(2 / pi) (x + 0.044715 x^3).
    {"gelu_tanh",
     [](double x) {
       long double wide = x, slope = 2 * std::sqrt(2 * std::numbers::inv_pi_v<long double>);
       return x == -HUGE_VAL ? -0.0 : double(wide / (1 + std::exp(-slope * (wide + 0.044715L * wide * wide * wide))));
     }},
};

template <class Rows> auto lookup(const Rows &rows, std::string_view name) -> decltype(rows[0].function) {
  for (const auto &row : rows)
    if (row.name == name)
      return row.function;
  return nullptr;
}

template <class V> Binary<V> binary(std::string_view name, bool isBoolean) {
  if constexpr (std::is_same_v<V, int64_t>)
    if (isBoolean)
      return lookup(logic, name);
  if constexpr (std::is_integral_v<V>)
    if (Binary<V> found = lookup(bitwise<V>, name))
      return found;
  return isBoolean ? nullptr : lookup(arithmetic<V>, name);
}

template <class V> Unary<V> unary(std::string_view name, bool isBoolean) {
  if constexpr (std::is_same_v<V, double>)
    if (Unary<V> found = lookup(functions, name))
      return found;
  if constexpr (std::is_integral_v<V>)
    if (name == "bitnot" || (isBoolean && name == "not"))
      return name == "not" ? [](V x) -> V { return !x; } : [](V x) -> V { return V(~uint64_t(x)); };
  return isBoolean ? nullptr : lookup(signs<V>, name);
}

bool isQuotient(std::string_view name) { return name == "div" || name == "mod" || name == "fmod"; }

template <class V> Status runBinary(const TensorCall &call, Binary<V> function, const std::vector<int64_t> &shape) {
  std::vector<V> divisors;
  if (std::is_integral_v<V> && isQuotient(call.name))
    divisors = load<V>(call.inputs[1]);
  if (auto zero = std::find(divisors.begin(), divisors.end(), V(0)); zero != divisors.end() && countOf(shape))
    return Failure{"an integer is divided by 0"};
  // A shift by the type's width or more leaves nothing but the sign.
  V width = V(elementBits(call.resultType));
  bool isShift = call.name == "shl" || call.name == "shr";
  return finish(call, shape, [&] {
    std::vector<V> a = spread<V>(call.inputs[0], shape), b = spread<V>(call.inputs[1], shape);
    for (size_t i = 0; i < a.size(); ++i)
      a[i] = isShift && b[i] >= width ? V(call.name == "shr" && a[i] < 0 ? -1 : 0) : function(a[i], b[i]);
    return a;
  });
}

template <class V> Status runCompare(const TensorCall &call, const std::vector<int64_t> &shape) {
  std::string mode = parameter<std::string>(call, "mode", "");
  auto holds = [&](V a, V b) {
    return mode == "eq" ? a == b : mode == "lt" ? a < b : mode == "le" ? a <= b : mode == "gt" ? a > b : a >= b;
  };
  return finish(call, shape, [&] {
    std::vector<V> a = spread<V>(call.inputs[0], shape), b = spread<V>(call.inputs[1], shape);
    std::vector<int64_t> result(a.size());
    for (size_t i = 0; i < a.size(); ++i)
      result[i] = holds(a[i], b[i]);
    return result;
  });
}

template <class V> Status runWhere(const TensorCall &call, const std::vector<int64_t> &shape) {
  return finish(call, shape, [&] {
    std::vector<int64_t> condition = spread<int64_t>(call.inputs[0], shape);
    std::vector<V> a = spread<V>(call.inputs[1], shape), b = spread<V>(call.inputs[2], shape);
    for (size_t i = 0; i < a.size(); ++i)
      if (!condition[i])
        a[i] = b[i];
    return a;
  });
}

template <class V> Status runClip(const TensorCall &call) {
  double low = parameter<double>(call, "min", -HUGE_VAL), high = parameter<double>(call, "max", HUGE_VAL);
  return finish(call, call.inputs[0].shape, [&] {
    std::vector<V> values = load<V>(call.inputs[0]);
    for (V &value : values)
      value = double(value) > high ? V(high) : double(value) < low ? V(low) : value;
    return values;
  });
}

Status runLeakyRelu(const TensorCall &call) {
  double alpha = parameter<double>(call, "alpha", 0.01);
  return finish(call, call.inputs[0].shape, [&] {
    std::vector<double> values = load<double>(call.inputs[0]);
    for (double &value : values)
      value = value < 0 ? alpha * value : value;
    return values;
  });
}

Status runHardSigmoid(const TensorCall &call) {
  double alpha = parameter<double>(call, "alpha", 0.2), beta = parameter<double>(call, "beta", 0.5);
  return finish(call, call.inputs[0].shape, [&] {
    std::vector<double> values = load<double>(call.inputs[0]);
    for (double &value : values)
      value = std::isnan(value) ? value : std::max(0.0, std::min(1.0, alpha * value + beta));
    return values;
  });
}

bool isBoolean(ElementType type) { return type == ElementType::Boolean; }

} // namespace

bool hasElementwise(std::string_view name, size_t inputs, ElementType type) {
  if (inputs == 3)
    return name == "where";
  if (inputs == 1 && name == "cast")
    return true;
  if (inputs == 2 && name == "compare")
    return true;
  if (inputs == 1 && (name == "leaky_relu" || name == "hard_sigmoid"))
    return classOf(type) == NumberClass::Float;
  if (inputs == 1 && name == "clip")
    return !isBoolean(type);
  return withClass(classOf(type), [&](auto number) {
    using V = decltype(number);
    return inputs == 2 ? binary<V>(name, isBoolean(type)) != nullptr
                       : inputs == 1 && unary<V>(name, isBoolean(type)) != nullptr;
  });
}

std::optional<Status> runElementwise(const TensorCall &call) {
  ElementType type = call.inputs.back().type;
  if (!hasElementwise(call.name, call.inputs.size(), type))
    return std::nullopt;
  auto shape = broadcastShape(call.inputs);
  if (!shape)
    return Failure{"the operands do not broadcast"};
  return withClass(classOf(type), [&](auto number) -> Status {
    using V = decltype(number);
    if (call.name == "where")
      return runWhere<V>(call, *shape);
    if (call.name == "compare")
      return runCompare<V>(call, *shape);
    if (call.name == "clip")
      return runClip<V>(call);
    if (call.name == "leaky_relu")
      return runLeakyRelu(call);
    if (call.name == "hard_sigmoid")
      return runHardSigmoid(call);
    if (call.inputs.size() == 2)
      return runBinary<V>(call, binary<V>(call.name, isBoolean(type)), *shape);
    return finish(call, *shape, [&] {
      std::vector<V> values = load<V>(call.inputs[0]);
      if (call.name != "cast")
        std::transform(values.begin(), values.end(), values.begin(), unary<V>(call.name, isBoolean(type)));
      return values;
    });
  });
}

} // namespace pto_mlir::hostops
