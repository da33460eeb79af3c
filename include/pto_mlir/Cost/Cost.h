//===- Cost.h - What an instruction costs its engine -------------------------===//
//
// The arithmetic behind the columns `cost` and `a5Cost` of the instruction table. Rates, chips and where they come from
// are in ISA/Costs.td; the simulator's timing mode and the compiler's estimates read them here.
//
//===----------------------------------------------------------------------===//

#ifndef PTO_MLIR_COST_COST_H
#define PTO_MLIR_COST_COST_H

#include "pto_mlir/ISA/Codec.h"

namespace pto_mlir::cost {

using isa::ChipInfo;
using isa::GlobalPath;

/// An instruction on its own takes head + work + tail. Where its engine is still busy with the one before, the heads
/// overlap; the tail is waited for by whoever needs the result.
struct InsnCost {
  double head = 0, work = 0, tail = 0; // cycles
  GlobalPath path = GlobalPath::Local;
  uint64_t bytes = 0; // over the path, which are not part of `work`
};

/// The cost of an instruction whose registers are read.
InsnCost costOf(const isa::DecodedInsn &insn, const ChipInfo &chip);

/// Bytes per cycle of one core that has the path for itself, and of one of all cores that use it at a time.
double bytesPerCycle(const ChipInfo &chip, GlobalPath path);
double sharedBytesPerCycle(const ChipInfo &chip, GlobalPath path);
/// Seconds per byte of one of `sharing` cores that use the path at a time, where HBM moves `hbm` bytes for each: less
/// than 1 where L2 holds some of them, more where whole lines move of which parts are used.
double secondsPerByte(const ChipInfo &chip, GlobalPath path, double sharing, double hbm);
/// Bytes per cycle of an instruction whose rate is a number of bytes per second (`Opcode::TExtractL0a` and its like).
double bytesPerCycle(const ChipInfo &chip, isa::Opcode opcode);

} // namespace pto_mlir::cost

#endif
