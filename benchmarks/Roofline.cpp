// Compiled for the native instruction set of this machine (CMakeLists.txt).
#include "Roofline.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <type_traits>
#include <vector>

namespace pto_mlir::benchmarks {
namespace {

double cpuSeconds() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return double(t.tv_sec) + double(t.tv_nsec) * 1e-9;
}

/// Calls per second: the best of several rounds of a few milliseconds.
template <class F> double rate(F &&f) {
  double best = 0;
  for (int round = 0; round < 5; ++round) {
    size_t calls = 0;
    double begin = cpuSeconds(), now;
    do {
      for (int i = 0; i < 16; ++i)
        f();
      calls += 16;
      now = cpuSeconds();
    } while (now - begin < 1e-3);
    best = std::max(best, double(calls) / (now - begin));
  }
  return best;
}

/// d[i] = f(x[i], y[i]); T is the storage type, C the compute type.
template <class T, class C, class F> double loopRate(size_t n, F f) {
  std::vector<T> x(n, T(3)), y(n, T(2)), d(n);
  T *__restrict out = d.data();
  const T *__restrict a = x.data(), *__restrict b = y.data();
  return double(n) * rate([&] {
           for (size_t i = 0; i < n; ++i)
             out[i] = T(f(C(a[i]), C(b[i])));
           asm volatile("" : : "r"(out) : "memory");
         });
}

template <class T> double functionLoop(Function f, size_t n) {
  switch (f) {
  case Function::Exp:
    return loopRate<T, float>(n, [](float x, float) { return std::exp(x); });
  case Function::Log:
    return loopRate<T, float>(n, [](float x, float) { return std::log(x); });
  case Function::Sqrt:
    return loopRate<T, float>(n, [](float x, float) { return std::sqrt(x); });
  case Function::ReciprocalSqrt:
    return loopRate<T, float>(n, [](float x, float) { return 1.0f / std::sqrt(x); });
  case Function::Reciprocal:
    return loopRate<T, float>(n, [](float x, float) { return 1.0f / x; });
  }
  return 0;
}

} // namespace

double memcpyRate(size_t bytes) {
  // At a distance of whole pages, loads would suffer from 4K aliasing with unrelated stores.
  std::vector<uint8_t> buffer(2 * bytes + 8192 + 1024, 1);
  uint8_t *from = buffer.data(), *to = from + (bytes + 4095) / 4096 * 4096 + 1024;
  return double(bytes) * rate([&] {
           std::memcpy(to, from, bytes);
           asm volatile("" : : "r"(to) : "memory");
         });
}

template <class T> double addRate(size_t n) {
  using C = std::conditional_t<std::is_integral_v<T>, T, float>;
  return loopRate<T, C>(n, [](C x, C y) { return C(x + y); });
}
template double addRate<float>(size_t);
template double addRate<_Float16>(size_t);
template double addRate<int32_t>(size_t);
template double addRate<int16_t>(size_t);

template <class T> double multiplyAddLoopRate(size_t n) {
  std::vector<T> x(n, T(3)), y(n, T(2)), d(n);
  T *__restrict out = d.data();
  const T *__restrict a = x.data(), *__restrict b = y.data();
  return double(n) * rate([&] {
           for (size_t i = 0; i < n; ++i)
             out[i] = T(float(T(float(a[i]) * float(b[i]))) + float(out[i]));
           asm volatile("" : : "r"(out) : "memory");
         });
}
template double multiplyAddLoopRate<float>(size_t);
template double multiplyAddLoopRate<_Float16>(size_t);

double functionRate(Function f, size_t n, bool halves) {
  return halves ? functionLoop<_Float16>(f, n) : functionLoop<float>(f, n);
}

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
