//===- WindowExpander.h - one window op as 2-D generics ----------*- C++ -*-===//
//
// Windows.cpp has the arithmetic, WindowBands.cpp what brings the input to the unified buffer.
//
//===----------------------------------------------------------------------===//

#ifndef PTO_MLIR_LIB_KERNELS_VECTOR_WINDOWEXPANDER_H
#define PTO_MLIR_LIB_KERNELS_VECTOR_WINDOWEXPANDER_H

#include "WindowTiling.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/DenseMap.h"

namespace pto_mlir::vector_kernels {

/// The window op's input as an image and where this op's first pixel lies in it,
/// in the coordinates of the padded image.
struct WindowInput {
  mlir::Value image;
  mlir::linalg::GenericOp producer; ///< what makes the image out of arguments, pixel by pixel; may be null
  llvm::SmallVector<mlir::OpFoldResult> offsets;
  int64_t padTop = 0, padLeft = 0, padBottom = 0, padRight = 0;
  mlir::Attribute padValue;
};

/// Output columns whose tiles read the same columns of their band from the image.
struct ColumnRun {
  int64_t first, last; ///< output columns of the tiles' origins: first <= origin < last
  int64_t low, high;   ///< band columns that lie in the image
};

/// Where the window op `op` reads `input` from; an error on it where that is no image.
mlir::FailureOr<WindowInput> traceInput(mlir::Operation *op, mlir::Value input);

/// Builds the expansion of one window op.
class WindowExpander {
public:
  WindowExpander(mlir::linalg::LinalgOp op, mlir::IRRewriter &rewriter)
      : op(op), rewriter(rewriter), loc(op.getLoc()), context(op.getContext()) {}
  mlir::LogicalResult expand();

private:
  using Bands = llvm::DenseMap<std::pair<int64_t, int64_t>, mlir::Value>; ///< by phase of the row and of the column
  /// A column of the kernel: the phases of its pixels, and their first column in the band of these.
  struct Tap {
    std::pair<int64_t, int64_t> phases;
    mlir::OpFoldResult bandColumn, kernelColumn;
  };

  mlir::LogicalResult analyse();
  mlir::Value overPixels(mlir::ValueRange ins, mlir::Value init, bool filtered,
                         llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::Location, mlir::ValueRange)> body);
  mlir::Value addTo(mlir::Value acc, mlir::Value column, mlir::Value filter);
  mlir::Value product(mlir::Value column, mlir::Value filter);
  mlir::Value convert(mlir::Value tile);
  mlir::Value local(llvm::ArrayRef<int64_t> shape, mlir::Value copied = mlir::Value());
  mlir::Value filled(llvm::ArrayRef<int64_t> shape, mlir::TypedAttr value);
  mlir::Value loadFilters();
  mlir::Value loadBand(int64_t phaseH, int64_t phaseW);
  mlir::Value addTaps(mlir::Value sum, mlir::OpFoldResult row, mlir::OpFoldResult kernelRow, llvm::ArrayRef<Tap> taps,
                      const Bands &bands, mlir::Value filters);
  mlir::Value addKernelColumns(mlir::Value sum, mlir::OpFoldResult row, mlir::OpFoldResult kernelRow, int64_t phase,
                               const Bands &bands, mlir::Value filters);
  mlir::Value addKernelRows(mlir::Value acc, mlir::Value row, int64_t phase, const Bands &bands, mlir::Value filters);
  mlir::Value loadRows(mlir::Value band, int64_t phaseH, int64_t phaseW, const ColumnRun &run, bool only);
  mlir::Value apply(llvm::ArrayRef<mlir::OpFoldResult> offsets, llvm::ArrayRef<int64_t> sizes,
                    llvm::ArrayRef<int64_t> strides, mlir::Value destination);
  llvm::SmallVector<ColumnRun> columnRuns(int64_t phaseW, int64_t bandCols);
  mlir::OpFoldResult index(int64_t value) { return rewriter.getIndexAttr(value); }
  mlir::Value slice(mlir::Value source, llvm::ArrayRef<mlir::OpFoldResult> offsets, llvm::ArrayRef<int64_t> sizes,
                    llvm::ArrayRef<int64_t> strides, llvm::ArrayRef<int64_t> shape);

  mlir::linalg::LinalgOp op;
  mlir::IRRewriter &rewriter;
  mlir::Location loc;
  mlir::MLIRContext *context;
  WindowInput input;
  llvm::SmallVector<mlir::Value> channelInputs; ///< of the producer, by operand: its part of a vector over the channels
  WindowAxis height, width;
  mlir::RankedTensorType imageType;
  mlir::OpFoldResult imageRows;
  mlir::Type accType;
  int64_t channels = 0, rows = 0, cols = 0; ///< of the output tile
  bool ragged = false;                      ///< `rows` is an upper bound
  bool isConv = false, isMax = false;
};

} // namespace pto_mlir::vector_kernels

#endif // PTO_MLIR_LIB_KERNELS_VECTOR_WINDOWEXPANDER_H
