//===- Target.h - what the compiler knows of an architecture ------------*- C++ -*-===//
//
// A row of ISA/Archs.td as the passes read it. A module names its target once (`pto.target_arch`); `targetOf` finds the
// row for any op. The table's own namespace stays out of headers above the border, where it would hide llvm::isa.
//
//===----------------------------------------------------------------------===//
#ifndef PTO_MLIR_DIALECT_PTO_IR_TARGET_H
#define PTO_MLIR_DIALECT_PTO_IR_TARGET_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pto_mlir::pto {

struct Target {
  const char *name;
  bool followsA5;              // the public assembler's rules for a5 hold; else those for a3
  bool leftColumnMajor;        // L0A is NZ; else ZZ
  bool laneFlags;              // engines raise and await flags of one vector core; else S awaits the block's
  bool directTiles;            // tiles go from core to core without global memory
  bool vectorScatter;          // V scatters; else S does
  int64_t blocks, vectorCores; // of a chip; of a block
  int64_t tileBytes;           // of UB, below the scratch of instructions
};

/// Every target, the default first.
const std::vector<Target> &allTargets();
inline const Target &defaultTarget() { return allTargets().front(); }
/// Null when no row has that name.
const Target *findTarget(std::string_view name);
/// "a3, a5"
std::string targetNames();

} // namespace pto_mlir::pto

#endif
