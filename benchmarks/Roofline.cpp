// Compiled for this very machine (CMakeLists.txt).
#include "Roofline.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <vector>

namespace pto_mlir::benchmarks {
namespace {

double cpuSeconds() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return double(t.tv_sec) + double(t.tv_nsec) * 1e-9;
}

/// The best of several rounds of a few milliseconds, in calls per second.
template <class F> double rate(F &&f) {
  double best = 0;
  for (int round = 0; round < 15; ++round) {
    size_t calls = 0;
    double begin = cpuSeconds(), now;
    do {
      for (int i = 0; i < 16; ++i)
        f();
      calls += 16;
      now = cpuSeconds();
    } while (now - begin < 2e-3);
    best = std::max(best, double(calls) / (now - begin));
  }
  return best;
}

template <class T> double addRate(size_t n) {
  std::vector<T> x(n, T(1)), y(n, T(2)), d(n);
  T *out = d.data();
  const T *a = x.data(), *b = y.data();
  return double(n) * rate([&] {
#pragma clang loop vectorize(assume_safety)
    for (size_t i = 0; i < n; ++i)
      out[i] = T(float(a[i]) + float(b[i]));
    asm volatile("" : : "r"(out) : "memory");
  });
}

} // namespace

double memcpyRate(size_t bytes) {
  // A distance of whole pages would make every load wait for an unrelated store.
  std::vector<uint8_t> buffer(2 * bytes + 8192 + 1024, 1);
  uint8_t *from = buffer.data(), *to = from + (bytes + 4095) / 4096 * 4096 + 1024;
  return double(bytes) * rate([&] {
    std::memcpy(to, from, bytes);
    asm volatile("" : : "r"(to) : "memory");
  });
}

double addFloatRate(size_t n) { return addRate<float>(n); }
double addHalfRate(size_t n) { return addRate<_Float16>(n); }

double multiplyAddRate() {
  constexpr int chains = 12, steps = 256;
#if defined(__AVX512F__)
  typedef float Vec __attribute__((vector_size(64)));
#else
  typedef float Vec __attribute__((vector_size(32)));
#endif
  constexpr int width = sizeof(Vec) / 4;
  return 2.0 * width * chains * steps * rate([&] {
    Vec sum[chains] = {}, a = Vec{} + 0.5f, b = Vec{} + 0.25f;
    asm volatile("" : "+x"(a), "+x"(b));
    for (int i = 0; i < steps; ++i)
#pragma clang loop unroll(full)
      for (int j = 0; j < chains; ++j)
        sum[j] = __builtin_elementwise_fma(a, b, sum[j]);
    for (int j = 0; j < chains; ++j)
      asm volatile("" : : "x"(sum[j]));
  });
}

} // namespace pto_mlir::benchmarks
