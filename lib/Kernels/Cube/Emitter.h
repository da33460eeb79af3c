//===- Emitter.h - scalars, loops, tiles and views of a cube kernel -------===//
//
// A thin layer over OpBuilder: index values that stay constants as long as
// they can, loops that vanish when they have one trip, tiles and views whose
// types are static where the values are.
//
//===----------------------------------------------------------------------===//

#ifndef PTO_MLIR_LIB_KERNELS_CUBE_EMITTER_H
#define PTO_MLIR_LIB_KERNELS_CUBE_EMITTER_H

#include "Contraction.h"

#include "pto_mlir/Dialect/PTO/IR/PTO.h"
#include "pto_mlir/Dialect/PTO/IR/Tiles.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"

namespace pto_mlir::cube {

/// An index: a constant (IntegerAttr) or a value.
using Ix = mlir::OpFoldResult;

class Emitter {
public:
  /// Emits into the (empty) entry block of `func`, whose arguments are
  /// pointers.
  Emitter(mlir::func::FuncOp func);

  mlir::MLIRContext *context() { return b.getContext(); }

  Ix constant(int64_t value) { return b.getIndexAttr(value); }
  Ix add(Ix x, Ix y);
  Ix sub(Ix x, Ix y);
  Ix mul(Ix x, int64_t y);
  Ix mul(Ix x, Ix y);
  Ix div(Ix x, int64_t y);
  Ix rem(Ix x, int64_t y);
  /// How many blocks of `y` hold `x`.
  Ix ceilDiv(Ix x, int64_t y) { return div(add(x, constant(y - 1)), y); }
  Ix ceilDiv(Ix x, Ix y) { return div(sub(add(x, y), constant(1)), y); }
  Ix div(Ix x, Ix y);
  Ix rem(Ix x, Ix y);
  Ix min(Ix x, Ix y);
  Ix max(Ix x, Ix y);
  /// The extent of the block that begins at `start`: min(block, total - start),
  /// a constant when `block` divides `total`.
  Ix extent(Ix start, int64_t block, int64_t total);
  Ix extent(Ix start, int64_t block, Ix total);
  Ix extent(Ix start, Ix block, Ix total);
  /// x <= most ? then : otherwise; decided here where both are the same.
  Ix ifAtMost(Ix x, int64_t most, Ix then, Ix otherwise);
  /// As an operand; constants are made once, at the head of the function.
  mlir::Value value(Ix x);

  /// A scalar of the launch (pto.greatest_sizes).
  Ix kernelSize(unsigned number);
  /// A product of constants and symbols, which are the launch's scalars; made once, at the head of the function.
  Ix size(mlir::AffineExpr expr);

  using Body = llvm::function_ref<void(Ix)>;
  /// for (i = 0; i < bound; i += step); no loop for at most one known trip.
  void loop(Ix bound, int64_t step, Body body);
  /// for (i = first; i < end; ++i)
  void loop(Ix first, Ix end, Body body);
  /// The `count` iterations shared among the blocks of the launch.
  void spread(int64_t count, Body body);
  /// if (x == 0) then else; decided here when `x` is constant.
  void ifZero(Ix x, llvm::function_ref<void()> then, llvm::function_ref<void()> otherwise);

  /// A tile with that valid region; `type` gives the allocated box.
  mlir::Value tile(pto::TileBufType type, Ix validRows, Ix validCols);
  /// `tile` with that valid region; itself where its type says so already.
  mlir::Value valid(mlir::Value tile, Ix rows, Ix columns);
  /// Where block `outer` of `matrix` begins.
  Ix rowOf(const Matrix &matrix, Ix outer);
  Ix colOf(const Matrix &matrix, Ix outer);
  /// The rectangle of `matrix` at (row, col) of its operand's orientation.
  mlir::Value part(const Matrix &matrix, Ix row, Ix col, Ix rows, Ix cols);
  /// A rectangle of pixels of an image [rows, width, channels].
  mlir::Value pixels(const Matrix &matrix, int64_t width, Ix row, Ix x, Ix col, Ix rows, int64_t cols, Ix channels);
  /// Columns [start, start + extent) of one strip of `height` x `width` windows.
  mlir::Value patches(const Matrix &matrix, int64_t rowCount, const ConvPatches &patches, Ix row, Ix strip, Ix column,
                      Ix start, Ix height, Ix width, Ix extent);

  /// The box of `sizes` that begins `offset` elements behind the argument's
  /// begin.
  mlir::Value box(const Matrix &matrix, Ix offset, llvm::ArrayRef<Ix> sizes, llvm::ArrayRef<int64_t> strides);
  mlir::Value box(const Matrix &matrix, Ix offset, llvm::ArrayRef<Ix> sizes, llvm::ArrayRef<Ix> strides);

  void load(mlir::Value view, mlir::Value tile);

  mlir::Value argument(unsigned number) { return func.getArgument(number); }

  mlir::OpBuilder b;
  mlir::Location loc;
  const pto::Target &arch;
  /// Blocks that a launch has; 1 leaves out the distribution.
  int64_t cores = 0;

private:
  mlir::Value makeView(const Matrix &matrix, llvm::ArrayRef<int64_t> sizes, llvm::ArrayRef<int64_t> strides);
  mlir::Value partition(mlir::Value view, llvm::ArrayRef<Ix> offsets, llvm::ArrayRef<Ix> sizes);
  template <typename Op> Ix binary(Ix x, Ix y);

  mlir::func::FuncOp func;
  llvm::DenseMap<int64_t, mlir::Value> constants;
  llvm::DenseMap<mlir::AffineExpr, mlir::Value> sizes;
  mlir::Operation *lastSize = nullptr; ///< behind which sizes are made
  /// By argument, row pitch and kind of view (an argument has one rank).
  llvm::DenseMap<std::pair<unsigned, int64_t>, mlir::Value> views;
};

} // namespace pto_mlir::cube

#endif // PTO_MLIR_LIB_KERNELS_CUBE_EMITTER_H
