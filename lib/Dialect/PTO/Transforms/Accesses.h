//===- Accesses.h - what an op touches ----------------------------------*- C++ -*-===//
#ifndef PTO_MLIR_LIB_DIALECT_PTO_TRANSFORMS_ACCESSES_H
#define PTO_MLIR_LIB_DIALECT_PTO_TRANSFORMS_ACCESSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "pto_mlir/Dialect/PTO/IR/Tiles.h"

namespace pto_mlir::pto {

inline constexpr llvm::StringLiteral kBuffersAttr = "pto.buffers"; // on alloc_tile: number of alternating buffers
inline constexpr llvm::StringLiteral kBaseAttr = "pto.base";       // on alloc_tile: address of the first of them
inline constexpr llvm::StringLiteral kRingAttr =
    "pto.ring"; // on alloc_tile: first byte and bytes of the buffer that it lies in, somewhere
inline constexpr llvm::StringLiteral kFenceAttr =
    "pto.fence"; // on a flag between cores: orders all that its core does to global memory

/// Bytes of one op's operand: of a local memory, or of everything behind one kernel argument.
struct Access {
  bool write;
  bool global;
  mlir::Value root;       // alloc_tile, or the kernel argument
  AddressSpace space;     // of a local access
  int64_t begin, end;     // bytes relative to the root's first byte (one buffer of it)
  bool placed;            // `address` is known
  bool anywhere;          // may be any byte of the memory, or of all global memory
  int64_t address, span;  // first byte of the root and bytes of all its buffers
  mlir::scf::ForOp turns; // the loop whose trips alternate the root's buffers, or null
};

/// Everything that an op of an engine reads and writes. Ops that only rename memory touch nothing.
llvm::SmallVector<Access> collectAccesses(mlir::Operation *op);

enum class Overlap {
  none,
  sameTurn, // only when the loop's trips use the same buffer
  always
};
/// Can the two accesses touch the same bytes, at least one of them writing?
Overlap conflict(const Access &a, const Access &b);

/// True for an op that an engine executes.
bool isEngineOp(mlir::Operation *op);

/// True for a move of a tile from one kind of core to the other's memory: from L0C to UB, from UB to L1.
bool crossesCores(mlir::Operation *op);

/// The ops that use `tile`'s memory, aliases followed; aliases themselves are not in the list.
llvm::SmallVector<mlir::Operation *> getMemoryUsers(mlir::Value tile);

/// The tiles that two halves of memory may serve in turn and for which there is room (pto-multi-buffer). `remark`: say
/// of which that there is none.
llvm::SmallVector<AllocTileOp> tilesWithTwoBuffers(mlir::func::FuncOp func, bool remark);

/// Number of buffers of an alloc_tile (1 unless marked).
int64_t getBuffers(AllocTileOp alloc);
/// Bytes of one buffer, rounded up to the memory's alignment.
int64_t getAlignedBytes(TileBufType type, const Target &arch);

/// (iv - lower bound) floordiv step rem 2 as an index, computed at the top of the loop's body; one op chain per loop.
mlir::Value getTurn(mlir::scf::ForOp loop, llvm::DenseMap<mlir::Operation *, mlir::Value> &cache);

} // namespace pto_mlir::pto

#endif
