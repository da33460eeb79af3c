//===- Handover.h - tiles from a cube core to its vector cores --*- C++ -*-===//
//
// A kernel that join-kernels made: the cube core of a block puts each tile of
// its result into one of a few slots in global memory and says so by a
// semaphore; the vector cores of the block work on the tile, and give the slot
// back once they have loaded it.
//
//===----------------------------------------------------------------------===//

#ifndef PTO_MLIR_LIB_KERNELS_CUBE_HANDOVER_H
#define PTO_MLIR_LIB_KERNELS_CUBE_HANDOVER_H

#include "Rings.h"

namespace pto_mlir::cube {

/// On a cube kernel: {panels, rows, columns, steps, slots, inputs, few}. The function
/// of each size of a tile, where the parts of their arguments behind the first
/// begin (vector_kernels::Panels::steps), the slots of a block, and how many of
/// these arguments are inputs; `few` only where rows are known at run time.
constexpr llvm::StringLiteral kHandoverAttr = "pto.handover";

/// Stands for tiles of any number of rows, which is known at run time: their panel takes it as a scalar.
constexpr int64_t kAnyRows = 0;

/// The tiles in which a kernel makes its result.
struct TileShapes {
  llvm::SmallVector<int64_t, 2> rows, columns; ///< that occur, the greater first; `kAnyRows` for all others
  int64_t perRows;                             ///< tiles of a block of rows, of each one
  int64_t perBlock;                            ///< of the busiest block of the launch
};

/// Empty when the result is no plain matrix of all batches, one below the other,
/// or when a tile cannot be told by its number.
std::optional<TileShapes> tileShapes(const Contraction &contraction, const CubeTiling &tiling);

/// The attribute and what it names. The arguments of the joined kernel are the
/// inputs of the cube kernel, other inputs of the vector kernel, the slots, the
/// outputs.
struct Handover {
  llvm::SmallVector<mlir::func::FuncOp> panels;
  llvm::SmallVector<int64_t> rows, columns; ///< of each panel
  llvm::SmallVector<llvm::SmallVector<int64_t>> steps;
  llvm::SmallVector<unsigned> arguments; ///< of the joined kernel, for each of `steps`
  llvm::SmallVector<mlir::Type> types;   ///< of the joined kernel's arguments
  int64_t slots, perRows;
  Matrix ring; ///< the slots of all blocks
};

/// Of `kHandoverAttr`: the rows, blockM and gridM of each of `few`.
mlir::DenseI64ArrayAttr fewRowsAttr(mlir::MLIRContext *context, llvm::ArrayRef<FewRows> few);

/// The one of the tilings that the kernel was joined for, with its `few`; the first one where none fits, which
/// `readHandover` says.
CubeTiling joinedTiling(mlir::func::FuncOp kernel, const Contraction &contraction,
                        const std::vector<CubeTiling> &tilings);

/// Reads the attribute of `kernel`, whose result is that of `contraction`; an
/// error when the panels are not lowered yet.
mlir::FailureOr<Handover> readHandover(mlir::func::FuncOp kernel, const Contraction &contraction,
                                       const CubeTiling &tiling);

/// The semaphores of a block: a slot is full, a slot is free.
enum class Semaphore { Full = 0, Free = 1 };
void raise(Emitter &e, pto::Pipe pipe, Semaphore semaphore);
void await(Emitter &e, pto::Pipe pipe, Semaphore semaphore);

/// The body of `panel` in the place of a call; a panel of any number of rows takes `rows`.
void inlinePanel(Emitter &e, mlir::func::FuncOp panel, llvm::ArrayRef<mlir::Value> pointers,
                 std::optional<Ix> rows = std::nullopt);

/// `offset` elements behind the begin of an argument.
mlir::Value pointerAt(Emitter &e, unsigned argument, Ix offset);
/// Where a part begins by what vector_kernels::Panels::steps says.
Ix placeOf(Emitter &e, llvm::ArrayRef<int64_t> steps, Ix row, Ix column);

/// What the vector cores do with the tile of `rows` x `columns` at (row, column) of
/// the result, which begins in row `slotRow` of the ring.
void emitPanel(Emitter &e, const Handover &handover, Ix slotRow, Ix row, Ix column, Ix rows, Ix columns);

} // namespace pto_mlir::cube

#endif // PTO_MLIR_LIB_KERNELS_CUBE_HANDOVER_H
