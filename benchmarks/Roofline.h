// What this machine does without a simulator: the plain loops that instructions are measured against. Rates per second
// on one thread.
#ifndef PTO_MLIR_BENCHMARKS_ROOFLINE_H
#define PTO_MLIR_BENCHMARKS_ROOFLINE_H

#include <cstddef>

namespace pto_mlir::benchmarks {

/// Bytes of a memcpy of `bytes`, again and again.
double memcpyRate(size_t bytes);
/// Elements of d[i] = x[i] + y[i] on `n` resident elements of f32, f16, i32 or i16.
template <class T> double addRate(size_t n);
/// Elements of d[i] = x[i] * y[i] + d[i], product and sum rounded, of f32 or f16.
template <class T> double multiplyAddLoopRate(size_t n);
enum class Function { Exp, Log, Sqrt, ReciprocalSqrt, Reciprocal };
/// Elements of d[i] = f(x[i]) in f32, between f16 in memory if `halves`.
double functionRate(Function f, size_t n, bool halves);
/// Floating point operations of independent fused multiply-adds in registers: what no product can exceed.
double multiplyAddRate();

} // namespace pto_mlir::benchmarks

#endif
