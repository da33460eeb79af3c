// The performance of this machine without a simulator: plain loops as baselines of instructions. Rates are per second
// on one thread.
#ifndef PTO_MLIR_BENCHMARKS_ROOFLINE_H
#define PTO_MLIR_BENCHMARKS_ROOFLINE_H

#include <cstddef>

namespace pto_mlir::benchmarks {

/// Bytes copied by repeated memcpy of `bytes`.
double memcpyRate(size_t bytes);
/// Elements of d[i] = x[i] + y[i] on `n` resident elements of f32, f16, i32 or i16.
template <class T> double addRate(size_t n);
/// Elements of d[i] = x[i] * y[i] + d[i], product and sum rounded, of f32 or f16.
template <class T> double multiplyAddLoopRate(size_t n);
enum class Function { Exp, Log, Sqrt, ReciprocalSqrt, Reciprocal };
/// Elements of d[i] = f(x[i]) in f32, with f16 storage if `halves`.
double functionRate(Function f, size_t n, bool halves);
/// Floating-point operations of independent fused multiply-adds in registers: the upper bound of a product.
double multiplyAddRate();

} // namespace pto_mlir::benchmarks

#endif
