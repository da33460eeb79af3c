// End-to-end runs of small programs with known results.
#include "Harness.h"

namespace pto_mlir::tasks {
namespace {

INSTANTIATE_TEST_SUITE_P(Scene, BothModes, ::testing::Values(Mode::Threads, Mode::VirtualTime),
                         [](auto &info) { return info.param == Mode::Threads ? "Threads" : "VirtualTime"; });

/// out = a + b over `n` floats, elementwise.
KernelBody addKernel(size_t n) {
  return [n](KernelCall &call) {
    const float *a = pointer(call.args[0]), *b = pointer(call.args[1]);
    float *out = pointer(call.args[2]);
    for (size_t i = 0; i < n; ++i)
      out[i] = a[i] + b[i];
  };
}

TEST_P(BothModes, T20_VectorExampleIsADiamond) {
  // f = (a + b + 1)(a + b + 2) + (a + b)
  constexpr int64_t n = 1024;
  auto runtime = make(config());
  KernelId add = tasks::add(*runtime, "add", addKernel(n));
  KernelId addScalar = tasks::add(*runtime, "adds", [](KernelCall &call) {
    for (int64_t i = 0; i < n; ++i)
      pointer(call.args[1])[i] = pointer(call.args[0])[i] + float(call.args[2]);
  });
  KernelId mul = tasks::add(*runtime, "mul", [](KernelCall &call) {
    for (int64_t i = 0; i < n; ++i)
      pointer(call.args[2])[i] = pointer(call.args[0])[i] * pointer(call.args[1])[i];
  });
  std::vector<float> a(n), b(n), f(n);
  for (int64_t i = 0; i < n; ++i) {
    a[i] = float(i);
    b[i] = float(2 * i % 7);
  }
  Tensor ta = Tensor::dense(a.data(), 4, {n}), tb = Tensor::dense(b.data(), 4, {n}),
         tf = Tensor::dense(f.data(), 4, {n});
  for (int round = 0; round < 3; ++round) {
    std::fill(f.begin(), f.end(), 0.0f);
    EXPECT_OK(runtime->run([&](TaskRuntime &run) {
      EXPECT_OK(run.scopeBegin());
      TaskSpec sum(add), plus1(addScalar), plus2(addScalar), product(mul);
      submit(run, sum.input(ta).input(tb).allocate(4, {n}));
      const Tensor &s = sum.outputs()[0];
      submit(run, plus1.input(s).allocate(4, {n}).scalar(1));
      submit(run, plus2.input(s).allocate(4, {n}).scalar(2));
      submit(run, product.input(plus1.outputs()[0]).input(plus2.outputs()[0]).allocate(4, {n}));
      submit(run, TaskSpec(add).input(product.outputs()[0]).input(s).output(tf));
      EXPECT_OK(run.scopeEnd());
    }));
    for (int64_t i = 0; i < n; ++i) {
      float s = a[i] + b[i];
      ASSERT_EQ(f[i], (s + 1) * (s + 2) + s) << i;
    }
    EXPECT_EQ(runtime->statistics().completed, 5u);
    EXPECT_EQ(runtime->statistics().edges, 6u);
  }
}

TEST_P(BothModes, T21_AccumulationChainsOnBothKindsOfCores) {
  // C[g] += A[g][k] * B[g][k] over k, matmuls on CUBE and sums on VECTOR; 8x8 tiles of small integers are exact in
  // float.
  constexpr int groups = 6, steps = 5, n = 8;
  auto runtime = make(config());
  KernelId matmul = add(*runtime, "matmul", [](KernelCall &call) {
    const float *a = pointer(call.args[0]), *b = pointer(call.args[1]);
    float *c = pointer(call.args[2]);
    EXPECT_EQ(call.kind, WorkerKind::Cube);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        c[i * n + j] = 0;
        for (int k = 0; k < n; ++k)
          c[i * n + j] += a[i * n + k] * b[k * n + j];
      }
  });
  KernelId accumulate = add(*runtime, "accumulate", [](KernelCall &call) {
    EXPECT_EQ(call.kind, WorkerKind::Vector);
    for (int i = 0; i < n * n; ++i)
      pointer(call.args[1])[i] += pointer(call.args[0])[i];
  });
  std::vector<float> a(groups * steps * n * n), b(a.size()), c(groups * n * n), expected(c.size());
  for (size_t i = 0; i < a.size(); ++i) {
    a[i] = float(int(i * 7 % 11) - 5);
    b[i] = float(int(i * 5 % 13) - 6);
  }
  for (int g = 0; g < groups; ++g)
    for (int s = 0; s < steps; ++s)
      for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j)
          for (int k = 0; k < n; ++k)
            expected[(g * n + i) * n + j] +=
                a[((g * steps + s) * n + i) * n + k] * b[((g * steps + s) * n + k) * n + j];
  EXPECT_OK(runtime->run([&](TaskRuntime &run) {
    for (int s = 0; s < steps; ++s)
      for (int g = 0; g < groups; ++g) {
        EXPECT_OK(run.scopeBegin());
        size_t tile = size_t(g * steps + s) * n * n;
        TaskSpec product(matmul, WorkerKind::Cube);
        submit(run, product.input(Tensor::dense(&a[tile], 4, {n, n}))
                        .input(Tensor::dense(&b[tile], 4, {n, n}))
                        .allocate(4, {n, n}));
        submit(run,
               TaskSpec(accumulate).input(product.outputs()[0]).inout(Tensor::dense(&c[size_t(g) * n * n], 4, {n, n})));
        EXPECT_OK(run.scopeEnd());
      }
  }));
  EXPECT_EQ(c, expected);
}

TEST_P(BothModes, T22_TinyRingsGiveTheSameResult) {
  Config tiny = config();
  tiny.window = {16, 16, 16, 16};
  tiny.heapBytes = {1024, 1024, 1024, 1024};
  tiny.dependencyEntries = 32;
  tiny.tensorMapEntries = 32;
  auto runtime = make(tiny);
  // A chain through heap outputs: each task computes 3 * input + its number.
  KernelId step = add(*runtime, "step", [](KernelCall &call) {
    *pointer<uint64_t>(call.args[1]) = *pointer<uint64_t>(call.args[0]) * 3 + call.args[2];
  });
  KernelId store = add(*runtime, "store",
                       [](KernelCall &call) { *pointer<uint64_t>(call.args[1]) = *pointer<uint64_t>(call.args[0]); });
  uint64_t state = 1, expected = 1;
  constexpr int count = 2000;
  Tensor external = Tensor::dense(&state, 8, {1});
  EXPECT_OK(runtime->run([&](TaskRuntime &run) {
    for (int i = 0; i < count; ++i) {
      EXPECT_OK(run.scopeBegin());
      TaskSpec next(step);
      submit(run, next.input(external).allocate(8, {1}).scalar(uint64_t(i)));
      submit(run, TaskSpec(store).input(next.outputs()[0]).output(external));
      EXPECT_OK(run.scopeEnd());
      expected = expected * 3 + uint64_t(i);
    }
  }));
  EXPECT_EQ(state, expected);
  EXPECT_GT(runtime->statistics().slotReuses, 10u * 16);
  EXPECT_LE(runtime->statistics().peakTasks[1], 16u);
}

TEST_P(BothModes, T23_HeapIsRebasedWhenItIsEmpty) {
  Config half = config();
  half.heapBytes = {1536 << 10, 1536 << 10, 1536 << 10, 1536 << 10};
  auto runtime = make(half);
  KernelId touch =
      add(*runtime, "touch", [](KernelCall &call) { std::fill_n(pointer<char>(call.args[0]), 1 << 20, char(1)); });
  EXPECT_OK(runtime->run([&](TaskRuntime &run) {
    for (int i = 0; i < 4; ++i) {
      EXPECT_OK(run.scopeBegin());
      submit(run, TaskSpec(touch).allocate(1, {1 << 20}));
      EXPECT_OK(run.scopeEnd());
    }
  }));
}

} // namespace
} // namespace pto_mlir::tasks
