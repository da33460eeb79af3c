// What an instruction costs its engine, in cycles. Numbers are those of reference pto-isa, section 4 (cost model) with the corrections of its 4.9
// and 5.2 (published silicon); each stands beside the row it prices.
#ifndef PTO_MLIR_CMODEL_TIMING_COSTS_H
#define PTO_MLIR_CMODEL_TIMING_COSTS_H

#include "pto_mlir/ISA/Codec.h"

namespace pto_mlir::cmodel {

/// The chip as the model sees it.
struct ChipModel {
  double clock = 1.8e9;           // Hz; 4.9: back-computed from the published products
  unsigned blocks = 24;           // that run at a time: one AIC and two AIV each
  double launchSeconds = 5.9e-6;  // 4.9: of every kernel
  double crossSeconds = 0; // between a cross-core flag's raise and what waits for it
  // Global memory as the cores share it (5.2, fitted to the published loads of sizes 1536 to 6144): bytes that this launch has read before come
  // from L2, others from HBM.
  double l2BytesPerSecond = 24 * 169e9, hbmBytesPerSecond = 24 * 42.7e9;
};

/// The way between a core and global memory that a transfer takes; Local: none.
enum class GlobalPath : uint8_t { Local, ToUB, ToL1, FromUB, FromL1, FromL0C };

/// Bytes per second of one core that has the path for itself.
double pathBytesPerSecond(GlobalPath path);
/// Seconds before the first byte moves.
double pathStartSeconds(GlobalPath path);

/// An instruction on its own takes head + work + tail. Where its engine is still busy with the one before, the heads overlap; the tail is
/// waited for by whoever needs the result.
struct InsnCost {
  double head = 0, work = 0, tail = 0; // cycles
  GlobalPath path = GlobalPath::Local;
  uint64_t bytes = 0; // over the path, which are not part of `work`
};

/// The cost of an instruction whose registers are read. `clock` turns rates into cycles.
InsnCost costOf(const isa::DecodedInsn &insn, double clock);

} // namespace pto_mlir::cmodel

#endif
