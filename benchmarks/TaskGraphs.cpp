#include "TaskGraphs.h"

namespace pto_mlir::tasks {

namespace {

constexpr int64_t kTile = 64; // rows and columns of a tile, 4 bytes per element

/// Tiles with distinct addresses; their contents are never accessed.
class Tiles {
public:
  explicit Tiles(size_t count) : base(next) { next += count * kTile * kTile * 4; }
  Tensor operator[](size_t index) const { return Tensor::dense(base + index * kTile * kTile * 4, 4, {kTile, kTile}); }

private:
  static inline uint64_t next = uint64_t(1) << 40;
  uint64_t base;
};

TaskSpec matmul(const GraphKernels &kernels) { return TaskSpec(kernels.matmul, WorkerKind::Cube); }
TaskSpec vector(const GraphKernels &kernels) { return TaskSpec(kernels.vector, WorkerKind::Vector); }

} // namespace

TaskGraph batchedGemm() {
  constexpr size_t groups = 250, steps = 2;
  Tiles a(groups * steps), b(groups * steps), c(groups);
  return {"bgemm", 2 * groups * steps, [=](TaskRuntime &run, const GraphKernels &kernels) {
            for (size_t group = 0; group < groups; ++group) {
              (void)run.scopeBegin();
              for (size_t i = group * steps; i < (group + 1) * steps; ++i) {
                TaskSpec product = matmul(kernels);
                (void)run.submit(product.input(a[i]).input(b[i]).allocate(4, {kTile, kTile}));
                (void)run.submit(vector(kernels).input(product.outputs()[0]).inout(c[group]));
              }
              (void)run.scopeEnd();
            }
          }};
}

TaskGraph pagedAttention() {
  constexpr size_t requests = 16, pages = 16;
  Tiles query(requests), keys(requests * pages), values(requests * pages), out(requests), running(requests);
  return {"paged attention", 4 * requests * pages, [=](TaskRuntime &run, const GraphKernels &kernels) {
            for (size_t page = 0; page < pages; ++page)
              for (size_t request = 0; request < requests; ++request) {
                size_t place = request * pages + page;
                (void)run.scopeBegin();
                TaskSpec scores = matmul(kernels), softmax = vector(kernels), weighted = matmul(kernels);
                (void)run.submit(scores.input(query[request]).input(keys[place]).allocate(4, {kTile, kTile}));
                (void)run.submit(softmax.inout(scores.outputs()[0]).allocate(4, {kTile, 2}));
                (void)run.submit(weighted.input(scores.outputs()[0]).input(values[place]).allocate(4, {kTile, kTile}));
                (void)run.submit(vector(kernels)
                                     .input(weighted.outputs()[0])
                                     .input(softmax.outputs()[0])
                                     .inout(out[request])
                                     .inout(running[request]));
                (void)run.scopeEnd();
              }
          }};
}

TaskGraph decoderLayer() {
  constexpr size_t rows = 4, hidden = 8, qkv = 12, heads = 16, inner = 16;
  Tiles x(rows * hidden), normed(rows * hidden), projected(rows * qkv), rotated(rows * hidden), scores(rows * heads),
      mixed(rows * heads), gate(rows * inner), up(rows * inner), active(rows * inner);
  auto row = [](const Tiles &tiles, size_t r, size_t width) {
    Tensor whole = tiles[r * width];
    whole.shape[0] *= int64_t(width);
    return whole;
  };
  constexpr unsigned count =
      unsigned(rows * (1 + qkv + hidden + 3 * heads + hidden + 1 + 1 + 2 * inner + inner + hidden + 1));
  return {"decoder layer", count, [=](TaskRuntime &run, const GraphKernels &kernels) {
            for (size_t r = 0; r < rows; ++r) {
              (void)run.submit(vector(kernels).input(row(x, r, hidden)).output(row(normed, r, hidden)));
              for (size_t i = 0; i < qkv; ++i)
                (void)run.submit(matmul(kernels).input(row(normed, r, hidden)).output(projected[r * qkv + i]));
              for (size_t i = 0; i < hidden; ++i)
                (void)run.submit(vector(kernels).input(projected[r * qkv + i]).output(rotated[r * hidden + i]));
              // Two heads share a tile of queries and keys; four share one of values.
              for (size_t h = 0; h < heads; ++h) {
                (void)run.submit(matmul(kernels).input(rotated[r * hidden + h / 2]).output(scores[r * heads + h]));
                (void)run.submit(vector(kernels).inout(scores[r * heads + h]));
                (void)run.submit(matmul(kernels)
                                     .input(scores[r * heads + h])
                                     .input(projected[r * qkv + hidden + h / 4])
                                     .output(mixed[r * heads + h]));
              }
              for (size_t i = 0; i < hidden; ++i)
                (void)run.submit(matmul(kernels).input(row(mixed, r, heads)).output(normed[r * hidden + i]));
              (void)run.submit(vector(kernels).input(row(normed, r, hidden)).inout(row(x, r, hidden)));
              (void)run.submit(vector(kernels).input(row(x, r, hidden)).output(row(normed, r, hidden)));
              for (size_t i = 0; i < inner; ++i) {
                (void)run.submit(matmul(kernels).input(row(normed, r, hidden)).output(gate[r * inner + i]));
                (void)run.submit(matmul(kernels).input(row(normed, r, hidden)).output(up[r * inner + i]));
                (void)run.submit(
                    vector(kernels).input(gate[r * inner + i]).input(up[r * inner + i]).output(active[r * inner + i]));
              }
              for (size_t i = 0; i < hidden; ++i)
                (void)run.submit(matmul(kernels).input(row(active, r, inner)).output(rotated[r * hidden + i]));
              (void)run.submit(vector(kernels).input(row(rotated, r, hidden)).inout(row(x, r, hidden)));
            }
          }};
}

} // namespace pto_mlir::tasks
