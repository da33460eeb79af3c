//===- Target.h - what the compiler knows of an architecture ------------*- C++ -*-===//
//
// A row of ISA/Archs.td as the passes read it. A module names its target once (`pto.target_arch`); `targetOf` finds the
// row for any op. The table's own namespace stays out of headers above the border, where it would hide llvm::isa.
//
//===----------------------------------------------------------------------===//
#ifndef PTO_MLIR_DIALECT_PTO_IR_TARGET_H
#define PTO_MLIR_DIALECT_PTO_IR_TARGET_H

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pto_mlir::pto {

struct Target {
  const char *name;
  bool testOnly;        // no chip: tests alone know it
  bool secondTypes;     // the second column of element types holds; else the first
  bool leftColumnMajor; // L0A is NZ; else ZZ
  bool laneFlags;       // engines raise and await flags of one vector core; else S awaits the block's
  bool directTiles;     // tiles go from core to core without global memory
  bool vectorScatter;   // V scatters; else S does
  // Rules of the public assembler.
  bool columnMajorOperands;     // block gathers, transpositions and quantisation take column-major tiles
  bool moreTypes;               // selections, comparisons, gathers and triangles take more element types
  bool scaledProducts;          // products of fp8, also with scales
  bool freeTransfers;           // loads into any memory, stores of any width but not of L1, moves between other shapes
  bool noExpandScratch;         // maximum, minimum and exp of a difference by rows take no tmp
  bool distinctReciprocal;      // a reciprocal is not written over its source
  bool addedOps;                // gathers and scatters in global memory, histograms, random numbers, packing, ..
  int64_t blocks, vectorCores;  // of a chip; of a block
  int64_t eventIds, crossFlags; // flags between two engines of a core; flags of a core for others
  std::array<uint8_t, 16> engines; // by pipe: the engine that carries out its instructions
  int64_t tileBytes;               // of UB, below the scratch of instructions
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
