// A kernel that repeats one instruction on resident data: its rate per host thread, and relative to plain code on this
// machine (Roofline.h). Benchmarks are named family/instruction/operands; benchmarks/cmodel.py groups them by family
// and holds the goals.
#ifndef PTO_MLIR_BENCHMARKS_INSNBENCH_H
#define PTO_MLIR_BENCHMARKS_INSNBENCH_H

#include "../unittests/CModel/VectorHarness.h"
#include "Roofline.h"

#include <functional>

namespace pto_mlir::benchmarks {

using cmodel::test::half;
using cmodel::test::TestKernel;
using cmodel::test::tile;
using cmodel::test::typeOf;
using cmodel::test::view;
using isa::ElementType;
using isa::Layout;
using isa::Memory;
using isa::Pipe;

/// The work of one execution of the instruction.
struct Work {
  double units;
  const char *unit;                 // elements, bytes, flop
  std::function<double()> roofline; // units per second without a simulator; empty: no baseline
};
using Build = std::function<void(TestKernel &)>;

inline constexpr int repeats = 200;

/// Benchmarks `insn`, repeated by one engine after the instructions of `before`, which set up its data.
void benchmarkInsn(const std::string &name, isa::CoreKind kind, Pipe pipe, Work work, Build insn,
                   Build before = nullptr);
/// Benchmarks launches of a whole kernel.
void benchmarkKernel(const std::string &name, Work work, std::function<TestKernel()> kernel);

inline uint16_t boxes(int64_t v) { return uint16_t((v + 15) / 16 * 16); }
/// A copy of `bytes`, with memcpy as the baseline.
inline Work copies(double bytes) {
  return {bytes, "bytes", [bytes] { return memcpyRate(size_t(bytes)); }};
}

void addVectorBenchmarks();
void addRearrangingBenchmarks();
void addCubeBenchmarks();

} // namespace pto_mlir::benchmarks

#endif
