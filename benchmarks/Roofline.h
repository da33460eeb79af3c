// What this machine does without a simulator: the plain loops that instructions are measured against. Rates per second on one thread.
#ifndef PTO_MLIR_BENCHMARKS_ROOFLINE_H
#define PTO_MLIR_BENCHMARKS_ROOFLINE_H

#include <cstddef>

namespace pto_mlir::benchmarks {

/// Bytes of a memcpy of `bytes`, again and again.
double memcpyRate(size_t bytes);
/// Elements of d[i] = x[i] + y[i] on `n` resident elements.
double addFloatRate(size_t n);
double addHalfRate(size_t n);
/// Floating point operations of independent fused multiply-adds in registers: what no product can exceed.
double multiplyAddRate();

} // namespace pto_mlir::benchmarks

#endif
