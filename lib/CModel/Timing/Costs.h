// What an instruction costs its engine, in cycles. Numbers are those of reference pto-isa, section 4 (cost model) with
// the corrections of its 4.9 and 5.2 (published silicon); each stands beside the row it prices.
#ifndef PTO_MLIR_CMODEL_TIMING_COSTS_H
#define PTO_MLIR_CMODEL_TIMING_COSTS_H

#include "OperandList.h"
#include "pto_mlir/ISA/Codec.h"

#include <optional>

namespace pto_mlir::cmodel {

/// The way between a core and global memory that a transfer takes; Local: none.
enum class GlobalPath : uint8_t { Local, ToUB, ToL1, FromUB, FromL1, FromL0C };

/// The chip as the model sees it.
struct ChipModel {
  isa::Arch arch;
  double clock;         // Hz
  unsigned blocks;      // that run at a time: one AIC and two AIV each
  double launchSeconds; // of every kernel
  double crossSeconds;  // between a cross-core flag's raise and what waits for it
  // Global memory as the cores share it: bytes that are in L2 come from there, others from HBM.
  double l2BytesPerSecond, hbmBytesPerSecond, l2Bytes;
  // By GlobalPath: of one core that has the path for itself; before the first byte moves.
  double pathBytesPerSecond[6], pathStartSeconds[6];
  double extractFactor; // what L1 to L0 takes, times what 4.1 says
};

/// The model of an architecture, with where its numbers come from.
const ChipModel &chipOf(isa::Arch arch);

/// An instruction on its own takes head + work + tail. Where its engine is still busy with the one before, the heads
/// overlap; the tail is waited for by whoever needs the result.
struct InsnCost {
  double head = 0, work = 0, tail = 0; // cycles
  GlobalPath path = GlobalPath::Local;
  uint64_t bytes = 0; // over the path, which are not part of `work`
};

/// The cost of an instruction whose registers are read.
InsnCost costOf(const isa::DecodedInsn &insn, const ChipModel &chip);

/// The cost of a vector instruction on a5 where a curve is published for it or for what its engine does in the same
/// way; the rest costs what it costs on a3.
std::optional<InsnCost> a5VectorCost(const isa::DecodedInsn &insn, const OperandList &operands);

} // namespace pto_mlir::cmodel

#endif
