//===- WindowTiling.h - the part of a window's output made at a time ------===//

#ifndef PTO_MLIR_LIB_KERNELS_VECTOR_WINDOWTILING_H
#define PTO_MLIR_LIB_KERNELS_VECTOR_WINDOWTILING_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace pto_mlir::vector_kernels {

/// Set on a tiled window op: the most output rows that its tile has.
constexpr llvm::StringLiteral kTileRowsAttr = "pto.tile_rows";

/// Set on the elementwise op that makes a window's input: it is applied to the pixels as they are loaded, and never
/// tiled itself.
constexpr llvm::StringLiteral kWindowInputAttr = "pto.window_input";

/// On a window op that slides over an image whose rows are known at run time: their number by the kernel's size, an
/// affine map.
constexpr llvm::StringLiteral kImageRowsAttr = "pto.image_rows";

/// The taps that read one phase. They lie evenly, in the kernel and among the positions of the phase.
struct PhaseTaps {
  int64_t count = 0;
  int64_t first = 0, step = 0;           ///< in the kernel
  int64_t firstShift = 0, shiftStep = 0; ///< in the phase
};

/// One of the two spatial dimensions of a window. Output position o and kernel position k read padded input position
/// o * stride + k * dilation. Inputs are loaded phase by phase: phase p holds the positions that are p modulo the
/// stride, so that tap k reads phase `phase(k)` at o + `shift(k)`.
struct WindowAxis {
  int64_t kernel = 1, stride = 1, dilation = 1;
  int64_t phase(int64_t k) const { return k * dilation % stride; }
  int64_t shift(int64_t k) const { return k * dilation / stride; }
  PhaseTaps taps(int64_t phase) const;
  /// The largest shift of the taps that read `phase`, -1 when none does.
  int64_t reach(int64_t phase) const;
  /// Positions, over all phases, that `outputs` neighbouring outputs read.
  int64_t span(int64_t outputs) const;
};

/// Rows and columns of a depthwise convolution or pooling over NHWC.
WindowAxis windowAxis(mlir::linalg::LinalgOp window, unsigned spatialDim);

struct WindowTile {
  int64_t rows = 0, cols = 0, channels = 0;
};

/// What a tile of the window costs beside its input.
struct WindowTail {
  /// f32 values of the output's shape alive at once behind the window, whose input is not needed any more: accumulator,
  /// results and temporaries of the ops there.
  int64_t fullValues = 2;
  /// Operands of that shape that these ops load.
  int64_t operands = 0;
  /// Values of one input row's shape: operands and temporaries of the op that makes the input.
  int64_t inputValues = 0;
  /// Those of them that are loaded, the next row's beside this one's.
  int64_t inputOperands = 0;
  /// An op behind the window cannot merge rows and columns: one row at a time.
  bool oneRow = false;
};

/// The tile that costs least among those that fit the unified buffer: each tile loads its input with a halo, so large
/// ones load less; long channel runs and long vector commands cost less per element. Columns and channels are cut into
/// equal parts; rows may leave a remainder. `cores` is the number of vector cores that share the tiles. No rows in the
/// result: nothing fits.
WindowTile chooseWindowTile(mlir::linalg::LinalgOp window, const WindowTail &tail, int64_t cores);

} // namespace pto_mlir::vector_kernels

#endif // PTO_MLIR_LIB_KERNELS_VECTOR_WINDOWTILING_H
