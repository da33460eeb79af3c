// Elements as the widest number of their class: int64_t, uint64_t (only for u64) or double.
#ifndef PTO_MLIR_LIB_HOSTOPS_TENSOR_WIDE_H
#define PTO_MLIR_LIB_HOSTOPS_TENSOR_WIDE_H

#include "pto_mlir/HostOps/TensorOps.h"
#include "pto_mlir/Support/Float8.h"

#include <optional>
#include <type_traits>

namespace pto_mlir::hostops {

enum class NumberClass { Signed, Unsigned, Float };
NumberClass classOf(ElementType type);
/// Bytes of one element of a TensorView; 1 for those of less, which are unpacked before (runPacked).
uint64_t elementSize(ElementType type);
/// Elements of the shape.
uint64_t countOf(const std::vector<int64_t> &shape);

/// Calls `use` with a value of the class's C++ type.
template <class Use> auto withClass(NumberClass kind, Use use) {
  switch (kind) {
  case NumberClass::Signed:
    return use(int64_t());
  case NumberClass::Unsigned:
    return use(uint64_t());
  default:
    return use(double());
  }
}

/// Sums, differences and products; those of integers wrap.
template <class V> using Wrapping = std::conditional_t<std::is_integral_v<V>, uint64_t, V>;
template <class V> V sum(V a, V b) { return V(Wrapping<V>(a) + Wrapping<V>(b)); }
template <class V> V difference(V a, V b) { return V(Wrapping<V>(a) - Wrapping<V>(b)); }
template <class V> V product(V a, V b) { return V(Wrapping<V>(a) * Wrapping<V>(b)); }

/// The elements, converted to V as C++ converts (exact when V is the type's own class).
template <class V> std::vector<V> load(const TensorView &tensor);
/// The same of a matrix inside of the tensor, from element `start`; steps are in elements, of rows and of columns.
template <class V>
void loadMatrix(const TensorView &tensor, int64_t start, int64_t rows, int64_t rowStep, int64_t columns,
                int64_t columnStep, V *out, int64_t outRowStep, int64_t outColumnStep);
/// Stores values: integers wrap, floats round to nearest even; from float to integer saturates (NaN gives 0). Floats of
/// 8 bits saturate, too, unless told otherwise.
template <class V>
void store(const std::vector<V> &values, ElementType type, std::byte *out, bool saturates = true,
           ScaleRounding rounding = ScaleRounding::Up);

/// Row-major strides in elements; those of a broadcast operand of a result of `shape` are 0 where it has size 1.
std::vector<int64_t> stridesOf(const std::vector<int64_t> &shape);
std::vector<int64_t> broadcastStrides(const std::vector<int64_t> &operand, const std::vector<int64_t> &shape);
/// The shape to which the operands broadcast by numpy's rules; nullopt when they do not.
std::optional<std::vector<int64_t>> broadcastShape(std::span<const TensorView> operands);

/// What to say of an index that is not below the extent of its dimension, counted from either end.
Failure outside(int64_t index, size_t dimension, int64_t extent);

/// A strided view in its fewest dimensions: without those of size 1, and with neighbours that one stride walks joined.
struct StridedView {
  std::vector<int64_t> shape, strides;
  StridedView(const std::vector<int64_t> &shape, const std::vector<int64_t> &strides);
};

/// Calls `visit` with offset, number and stride of each run of elements along the innermost dimension of a strided
/// view's fewest, in row-major order.
template <class Visit>
void forEachRun(const std::vector<int64_t> &shape, const std::vector<int64_t> &strides, int64_t base, Visit visit) {
  if (countOf(shape) == 0)
    return;
  StridedView view(shape, strides);
  size_t outer = view.shape.size() - 1;
  std::vector<int64_t> index(outer, 0);
  for (int64_t offset = base;;) {
    visit(offset, view.shape[outer], view.strides[outer]);
    size_t d = outer;
    for (; d > 0; --d) {
      offset += view.strides[d - 1];
      if (++index[d - 1] < view.shape[d - 1])
        break;
      offset -= view.strides[d - 1] * view.shape[d - 1];
      index[d - 1] = 0;
    }
    if (d == 0)
      return;
  }
}

/// Calls `visit` with the offset of each element of a strided view, in row-major order.
template <class Visit>
void forEachOffset(const std::vector<int64_t> &shape, const std::vector<int64_t> &strides, int64_t base, Visit visit) {
  forEachRun(shape, strides, base, [&](int64_t offset, int64_t count, int64_t stride) {
    for (int64_t i = 0; i < count; ++i)
      visit(offset + i * stride);
  });
}
template <class V> std::vector<V> spread(const TensorView &operand, const std::vector<int64_t> &shape) {
  std::vector<V> own = load<V>(operand), result;
  result.reserve(countOf(shape));
  forEachOffset(shape, broadcastStrides(operand.shape, shape), 0, [&](int64_t at) { result.push_back(own[at]); });
  return result;
}

/// A parameter of the call; the fallback when it is absent or of another kind.
template <class T> T parameter(const TensorCall &call, std::string_view name, T fallback) {
  auto found = call.parameters.find(name);
  const T *value = found == call.parameters.end() ? nullptr : std::get_if<T>(&found->second);
  return value ? *value : fallback;
}

/// The memory of the output.
Result<std::byte *> allocate(const TensorCall &call, const std::vector<int64_t> &shape);
/// The result has the elements of the first input at `strides` from `base`.
Status moveStrided(const TensorCall &call, const std::vector<int64_t> &shape, const std::vector<int64_t> &strides,
                   int64_t base = 0);

/// Data, scales or sizes (`sizes`) of `axes`, a region of interest where one is read; attributes as top.resize has
/// them.
Status resize(const TensorCall &call);

/// Computes the elements after the output has its memory, and stores them.
template <class Compute> Status finish(const TensorCall &call, const std::vector<int64_t> &shape, Compute compute) {
  auto out = allocate(call, shape);
  if (!out)
    return out.failure();
  std::string round = parameter<std::string>(call, "round", "up");
  ScaleRounding rounding = round == "up"     ? ScaleRounding::Up
                           : round == "down" ? ScaleRounding::Down
                                             : ScaleRounding::Nearest;
  store(compute(), call.resultType, *out, parameter<int64_t>(call, "overflows", 0) == 0, rounding);
  return {};
}

/// The families; nullopt: the name is not one of theirs.
std::optional<Status> runElementwise(const TensorCall &call);
std::optional<Status> runReduction(const TensorCall &call);
std::optional<Status> runMatMul(const TensorCall &call);
std::optional<Status> runMovement(const TensorCall &call);
std::optional<Status> runShapes(const TensorCall &call);
std::optional<Status> runSelection(const TensorCall &call);
std::optional<Status> runFilter(const TensorCall &call);
std::optional<Status> runSpecial(const TensorCall &call);
std::optional<Status> runWindow(const TensorCall &call);
std::optional<Status> runNormalization(const TensorCall &call);
std::optional<Status> runRandom(const TensorCall &call);
std::optional<Status> runStrings(const TensorCall &call);
bool hasElementwise(std::string_view name, size_t inputs, ElementType type);
bool hasReduction(std::string_view name, size_t inputs, ElementType type);
bool hasMatMul(std::string_view name, size_t inputs, ElementType type);
bool hasMovement(std::string_view name, size_t inputs);
bool hasShapes(std::string_view name, size_t inputs);
bool hasSelection(std::string_view name, size_t inputs);
bool hasFilter(std::string_view name, size_t inputs);
bool hasSpecial(std::string_view name, size_t inputs);
bool hasWindow(std::string_view name, size_t inputs, ElementType type);
bool hasNormalization(std::string_view name, size_t inputs, ElementType type);
bool hasRandom(std::string_view name, size_t inputs);
/// The operations that read or make strings; casts of them are among these.
bool hasStrings(std::string_view name, std::span<const ElementType> operands);
/// Numbers in the order of the strings, equal for equal ones.
Result<std::vector<int64_t>> ranksOfStrings(const TensorCall &call, const TensorView &tensor);
/// The strings of a tensor; they live as long as the table's.
Result<std::vector<std::string_view>> stringsOf(const TensorCall &call, const TensorView &tensor);
/// Stores strings as the result.
Status finishStrings(const TensorCall &call, const std::vector<int64_t> &shape, const std::vector<std::string> &values);
/// Casts from and to strings.
Status castStrings(const TensorCall &call);

} // namespace pto_mlir::hostops

#endif // PTO_MLIR_LIB_HOSTOPS_TENSOR_WIDE_H
