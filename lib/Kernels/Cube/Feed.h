//===- Feed.h - rows from vector cores to their cube core -------*- C++ -*-===//
//
// A kernel that join-kernels made: the vector cores of a block make the rows of
// the left operand that the block's cube core needs, put them into slots in
// global memory and say so by a semaphore. There is a slot for each block of rows,
// so that no slot must be given back.
//
//===----------------------------------------------------------------------===//

#ifndef PTO_MLIR_LIB_KERNELS_CUBE_FEED_H
#define PTO_MLIR_LIB_KERNELS_CUBE_FEED_H

#include "Handover.h"

namespace pto_mlir::cube {

/// On a cube kernel: {panels, rows, steps, tiling}. The function of each number of
/// rows that occurs, where the parts of its inputs begin (vector_kernels::Panels::steps),
/// and the number of the tiling. Launches have the slots in front of their outputs, and the
/// inputs of the panels behind the other ones instead of the left operand.
constexpr llvm::StringLiteral kFeedAttr = "pto.feed";

/// Slots that a block may have: a semaphore counts no further.
constexpr int64_t kMostSlots = 15;

/// How a kernel reads its left operand.
struct FeedShapes {
  llvm::SmallVector<int64_t, 2> rows; ///< of blocks, the greater first
  int64_t perBlock;                   ///< blocks of rows of the busiest block of the launch
};

/// Empty when the left operand is no plain matrix of all products, one below the other, or has more blocks than slots.
std::optional<FeedShapes> feedShapes(const Contraction &contraction, const CubeTiling &tiling);

/// The attribute and what it names.
struct Feed {
  llvm::SmallVector<mlir::func::FuncOp> panels;
  llvm::SmallVector<int64_t> rows; ///< of each panel
  llvm::SmallVector<llvm::SmallVector<int64_t>> steps;
  unsigned firstArgument; ///< of the joined kernel: that of the first of `steps`
  Ring ring;
};

/// The tiling that the kernel was joined for, of those that `rankCubeTilings` gives; the first one where the attribute
/// names none, which `readFeed` says.
CubeTiling fedTiling(mlir::func::FuncOp kernel, const std::vector<CubeTiling> &tilings);

/// The contraction with the arguments of a launch that feeds it; `inputs` are those of the kernel without a feed.
Contraction withFeed(mlir::func::FuncOp kernel, const Contraction &contraction, unsigned inputs);

/// Reads the attribute of `kernel`; an error when the panels are not lowered yet. `types` become those of the joined
/// kernel's arguments, of which `inputs` were inputs; `handover` (or null) gets the new numbers.
mlir::FailureOr<Feed> readFeed(mlir::func::FuncOp kernel, const Contraction &contraction, const CubeTiling &tiling,
                               unsigned inputs, llvm::SmallVectorImpl<mlir::Type> &types, Handover *handover);

/// What the vector cores do for the block of `rows` rows from `row` on of the left operand, which begins in row
/// `slotRow` of the ring.
void emitFeed(Emitter &e, const Feed &feed, Ix slotRow, Ix row, Ix rows);

} // namespace pto_mlir::cube

#endif // PTO_MLIR_LIB_KERNELS_CUBE_FEED_H
