// Matrix products: panels of both operands, converted once, in blocks that registers hold. Each sum adds its products
// in the order of k, each rounded, whatever the machine; those of floats of 32 bits and less in f32 within a panel, and
// the panels' in double, which keeps a long sum's error that of a short one.
#include "Wide.h"

#include "pto_mlir/Support/MathExtras.h"

#include <algorithm>

namespace pto_mlir::hostops {

namespace {

constexpr int64_t kBlockRows = 4;    // of a block of sums
constexpr int64_t kPanelDepth = 128; // of a panel
// Two of the widest registers for each row of a block.
template <class E> constexpr int64_t kBlockColumns = 128 / int64_t(sizeof(E));

// sums[kBlockRows][kBlockColumns] += left[depth][kBlockRows] * right[depth][kBlockColumns]; rows of sums are `step`
// apart. Products of E are added in E.
template <class V, class E>
[[gnu::always_inline]] inline void addBlock(V *sums, int64_t step, const E *left, const E *right, int64_t depth) {
  constexpr int64_t columns = kBlockColumns<E>;
  constexpr bool same = std::is_same_v<V, E>;
  E block[kBlockRows][columns] = {};
  for (int64_t row = 0; same && row < kBlockRows; ++row)
    std::copy_n(sums + row * step, columns, block[row]);
  for (int64_t k = 0; k < depth; ++k)
    for (int64_t row = 0; row < kBlockRows; ++row)
      for (int64_t column = 0; column < columns; ++column)
        block[row][column] = sum(block[row][column], product(left[k * kBlockRows + row], right[k * columns + column]));
  for (int64_t row = 0; row < kBlockRows; ++row)
    for (int64_t column = 0; column < columns; ++column)
      sums[row * step + column] = same ? V(block[row][column]) : sum(sums[row * step + column], V(block[row][column]));
}

template <class V, class E> using BlockFunction = void (*)(V *, int64_t, const E *, const E *, int64_t);

template <class V, class E> void addBlockAnywhere(V *sums, int64_t step, const E *left, const E *right, int64_t depth) {
  addBlock(sums, step, left, right, depth);
}
#ifdef __x86_64__
template <class V, class E>
[[gnu::target("avx2")]] void addBlockAvx2(V *sums, int64_t step, const E *left, const E *right, int64_t depth) {
  addBlock(sums, step, left, right, depth);
}
template <class V, class E>
[[gnu::target("avx512f,avx512dq")]] void addBlockAvx512(V *sums, int64_t step, const E *left, const E *right,
                                                        int64_t depth) {
  addBlock(sums, step, left, right, depth);
}
#endif

template <class V, class E> BlockFunction<V, E> blockFunction() {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq"))
    return addBlockAvx512<V, E>;
  if (__builtin_cpu_supports("avx2"))
    return addBlockAvx2<V, E>;
#endif
  return addBlockAnywhere<V, E>;
}

// A matrix inside of a tensor: its first element, its extents and how far its rows and columns are apart, in elements.
struct Matrix {
  const TensorView &tensor;
  int64_t start, rows, columns, rowStep, columnStep;

  Matrix transposed() const { return {tensor, start, columns, rows, columnStep, rowStep}; }

  // Rows from `first` in panels of `width`: out[panel][column][width], 0 beyond the last row. `columns` from `left`.
  template <class E> void pack(int64_t width, int64_t left, int64_t depth, std::vector<E> &out) const {
    out.assign(size_t(roundUp(rows, width) * depth), E(0));
    for (int64_t first = 0; first < rows; first += width)
      loadMatrix(tensor, start + first * rowStep + left * columnStep, std::min(width, rows - first), rowStep, depth,
                 columnStep, out.data() + first * depth, 1, width);
  }
};

// sums[a.rows][step] += a * b, where `step` is b.columns rounded up to whole blocks, and so are the rows.
template <class E, class V> void addProduct(const Matrix &a, const Matrix &b, std::vector<V> &sums, int64_t step) {
  static const BlockFunction<V, E> add = blockFunction<V, E>();
  std::vector<E> left, right;
  for (int64_t k = 0; k < a.columns; k += kPanelDepth) {
    int64_t depth = std::min(kPanelDepth, a.columns - k);
    a.pack(kBlockRows, k, depth, left);
    b.transposed().pack(kBlockColumns<E>, k, depth, right);
    for (int64_t row = 0; row < a.rows; row += kBlockRows)
      for (int64_t column = 0; column < b.columns; column += kBlockColumns<E>)
        add(sums.data() + row * step + column, step, left.data() + row * depth, right.data() + column * depth, depth);
  }
}

// Sums of V of products of E.
template <class V, class E> Status multiply(const TensorCall &call) {
  std::vector<int64_t> sizes[2], steps[2];
  TensorView batches[2];
  for (int i = 0; i < 2; ++i) {
    sizes[i] = call.inputs[size_t(i)].shape;
    size_t rank = sizes[i].size();
    if (rank < 2)
      return Failure{"a matrix product takes operands of rank 2 and more"};
    steps[i] = stridesOf(sizes[i]);
    if (parameter<int64_t>(call, i == 0 ? "transpose_a" : "transpose_b", 0)) {
      std::swap(sizes[i][rank - 2], sizes[i][rank - 1]);
      std::swap(steps[i][rank - 2], steps[i][rank - 1]);
    }
    batches[i].shape.assign(sizes[i].begin(), sizes[i].end() - 2);
  }
  auto batch = broadcastShape(batches);
  int64_t m = sizes[0].end()[-2], inner = sizes[0].back(), n = sizes[1].back();
  if (!batch || inner != sizes[1].end()[-2])
    return Failure{"the operands of a matrix product do not fit"};
  uint64_t biases = call.inputs.size() == 3 ? countOf(call.inputs[2].shape) : 0;
  if (call.inputs.size() == 3 && biases != uint64_t(n) && biases != 1)
    return Failure{"the bias of a matrix product does not fit"};
  std::vector<int64_t> shape = *batch;
  shape.insert(shape.end(), {m, n});
  return finish(call, shape, [&] {
    std::vector<V> result;
    if (m == 0 || n == 0)
      return result;
    std::vector<int64_t> starts[2];
    for (int i = 0; i < 2; ++i) {
      std::vector<int64_t> strides = broadcastStrides(batches[i].shape, *batch);
      for (int64_t &stride : strides)
        stride *= sizes[i].end()[-2] * sizes[i].back();
      forEachOffset(*batch, strides, 0, [&](int64_t offset) { starts[i].push_back(offset); });
    }
    std::vector<V> bias = biases ? load<V>(call.inputs[2]) : std::vector<V>{V(0)};
    int64_t step = roundUp(n, kBlockColumns<E>);
    std::vector<V> sums(size_t(roundUp(m, kBlockRows) * step));
    result.reserve(starts[0].size() * size_t(m * n));
    for (size_t g = 0; g < starts[0].size(); ++g) {
      for (int64_t row = 0; row < m; ++row)
        for (int64_t column = 0; column < n; ++column)
          sums[size_t(row * step + column)] = bias[bias.size() == 1 ? 0 : size_t(column)];
      auto operand = [&](size_t i, int64_t rows, int64_t columns) {
        return Matrix{call.inputs[i], starts[i][g], rows, columns, steps[i].end()[-2], steps[i].back()};
      };
      addProduct<E>(operand(0, m, inner), operand(1, inner, n), sums, step);
      for (int64_t row = 0; row < m; ++row)
        result.insert(result.end(), sums.begin() + row * step, sums.begin() + row * step + n);
    }
    return result;
  });
}

} // namespace

bool hasMatMul(std::string_view name, size_t inputs, ElementType type) {
  return name == "matmul" && type != ElementType::Boolean && (inputs == 2 || inputs == 3);
}

std::optional<Status> runMatMul(const TensorCall &call) {
  if (!hasMatMul(call.name, call.inputs.size(), call.inputs[0].type))
    return std::nullopt;
  auto isShort = [](const TensorView &operand) {
    return classOf(operand.type) == NumberClass::Float && operand.type != ElementType::F64;
  };
  if (std::all_of(call.inputs.begin(), call.inputs.end(), isShort))
    return multiply<double, float>(call);
  return withClass(classOf(call.inputs[0].type),
                   [&](auto number) { return multiply<decltype(number), decltype(number)>(call); });
}

} // namespace pto_mlir::hostops
