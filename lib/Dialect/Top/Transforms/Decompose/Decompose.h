// Pattern groups of top-decompose, and what they build with.
#ifndef PTO_MLIR_LIB_DIALECT_TOP_TRANSFORMS_DECOMPOSE_DECOMPOSE_H
#define PTO_MLIR_LIB_DIALECT_TOP_TRANSFORMS_DECOMPOSE_DECOMPOSE_H

#include "mlir/IR/PatternMatch.h"
#include "pto_mlir/Dialect/Top/IR/Top.h"

namespace pto_mlir::top::decompose {

/// Builds ops without tensor names; an op that would restore its input is left out.
class Chain {
public:
  explicit Chain(mlir::PatternRewriter &rewriter) : rewriter(rewriter), loc(rewriter.getUnknownLoc()) {}

  mlir::Value reshape(mlir::Value value, llvm::ArrayRef<int64_t> shape);
  mlir::Value permute(mlir::Value value, llvm::ArrayRef<int64_t> perm);
  /// `count` elements of dimension `dim` from `start` on, every step-th one.
  mlir::Value slice(mlir::Value value, int64_t dim, int64_t start, int64_t count, int64_t step = 1);
  /// Adds `filler` before and behind dimension `dim`; a negative number removes elements.
  mlir::Value pad(mlir::Value value, int64_t dim, int64_t begin, int64_t end, double filler = 0);
  mlir::Value concat(llvm::ArrayRef<mlir::Value> values, int64_t dim);
  /// step - 1 zeros between the elements of dimension `dim`.
  mlir::Value spread(mlir::Value value, int64_t dim, int64_t step);
  mlir::Value constant(llvm::StringRef name, mlir::Type element, llvm::ArrayRef<int64_t> shape,
                       llvm::ArrayRef<double> values);

  mlir::PatternRewriter &rewriter;
  mlir::Location loc;
};

llvm::ArrayRef<int64_t> shapeOf(mlir::Value value);
/// Whether a value is constant once top-fold has run: a constant, or what a pattern of this pass moves of one. (Any
/// other op on constants is one that top-fold, which runs before, too, could not evaluate.)
bool isConstant(mlir::Value value);
/// The shape with dimension `dim` replaced by several.
llvm::SmallVector<int64_t> withDim(llvm::ArrayRef<int64_t> shape, int64_t dim, llvm::ArrayRef<int64_t> sizes);

/// The window of a convolution or pool along each spatial dimension. Layout NCHW.
struct Window {
  llvm::SmallVector<int64_t> kernel, strides, dilations, begins, ends;

  Window(llvm::ArrayRef<int64_t> kernel, llvm::ArrayRef<int64_t> strides, llvm::ArrayRef<int64_t> dilations,
         llvm::ArrayRef<int64_t> pads)
      : kernel(kernel), strides(strides), dilations(dilations), begins(pads.take_front(kernel.size())),
        ends(pads.drop_front(kernel.size())) {}
  size_t rank() const { return kernel.size(); }
  llvm::SmallVector<int64_t> pads() const {
    llvm::SmallVector<int64_t> all(begins);
    llvm::append_range(all, ends);
    return all;
  }
  /// Removes the first spatial dimension.
  void dropFirst();
  /// Makes dimension `i` one element per output: kernel, stride and dilation 1, no padding.
  void makeUnit(size_t i);
};

/// The elements under each tap of the kernel along spatial dimension `i`, as channels: input [N, G*C, .., in, ..] to
/// [N, G*K*C, .., out, ..], in each group tap by tap. `starts`: position of each tap's first element.
mlir::Value stackTaps(Chain &chain, mlir::Value input, size_t i, llvm::ArrayRef<int64_t> starts, int64_t stride,
                      int64_t out, int64_t group);

/// Moves the kernel's spatial dimension `i` of a filter [O, C, .., K, ..] into the channels: [O, K*C, .., 1, ..].
mlir::Value foldTaps(Chain &chain, mlir::Value filter, size_t i);

/// The pool of `input` with another window, without a tensor name.
mlir::Value poolLike(MaxPoolOp op, mlir::Value input, const Window &window, mlir::PatternRewriter &rewriter);
mlir::Value poolLike(AvgPoolOp op, mlir::Value input, const Window &window, mlir::PatternRewriter &rewriter);

/// Convolutions with taps that meet nothing but padding.
void populateDeadTaps(mlir::RewritePatternSet &patterns);
/// Convolutions and pools over three and more spatial dimensions.
void populateSpatial(mlir::RewritePatternSet &patterns);
/// Convolutions and transposed ones whose kernel, stride, dilation or padding exceeds `most`; transposed ones with a
/// computed filter.
void populateLargeWindows(mlir::RewritePatternSet &patterns, int64_t most);
/// Convolutions with a computed filter.
void populateComputedFilters(mlir::RewritePatternSet &patterns);
/// Pools over one element, over windows of more than `mostPixels` pixels, and maxima at long strides.
void populatePools(mlir::RewritePatternSet &patterns, int64_t mostPixels);
/// Pools over more than some hundred elements along one dimension.
void populateLongPools(mlir::RewritePatternSet &patterns);
/// Resizes of f64, and of integers by factors that are no whole numbers.
void populateResizes(mlir::RewritePatternSet &patterns);
/// Gathers of many short rows.
void populateGathers(mlir::RewritePatternSet &patterns);
/// Slices with negative steps.
void populateSlices(mlir::RewritePatternSet &patterns);

} // namespace pto_mlir::top::decompose

#endif
