//===- MatchSizes.cpp - sizes of a product that are known at run time -----===//

#include "../Sizes/SizeAnalysis.h"
#include "Contraction.h"

#include "pto_mlir/Dialect/PTO/IR/PTO.h"
#include "pto_mlir/Kernels/GroupedConv.h"

using namespace mlir;

namespace pto_mlir::cube {

static bool isProduct(linalg::LinalgOp op) {
  return isa<linalg::MatmulOp, linalg::MatmulTransposeBOp, linalg::BatchMatmulOp, linalg::BatchMatmulTransposeBOp>(
      op.getOperation());
}

/// Rows of the result that a slab serves even where the smallest image has fewer: the rest of the slab is zeros then.
constexpr int64_t kFewRows = 4;

/// The result is [images, rows, columns, ..].
static bool isConvolution(linalg::LinalgOp op) {
  return isa<linalg::Conv2DNhwcHwcfOp>(op.getOperation()) || matchGroupedConv(op);
}

/// A convolution of images whose number is known at run time is tiled like that of one image; one of an image whose
/// rows are, like that of the greatest image in slabs that small ones fill, too.
static LogicalResult matchImages(linalg::LinalgOp op, const kernels::SizeAnalysis &analysis, Contraction &contraction) {
  kernels::Sizes sizes = analysis.of(op->getResult(0));
  std::optional<int64_t> symbolic = kernels::symbolicRow(sizes);
  if (symbolic != 0 && symbolic != 1)
    return op->emitError("is a convolution whose size at run time is neither its number of images nor their rows");
  CubeProblem &p = contraction.problem;
  int64_t perSize = kernels::factor(sizes[*symbolic]).coefficient;
  int64_t outputs = p.m / cast<RankedTensorType>(op->getResult(0).getType()).getDimSize(*symbolic);
  if (!p.image && !p.patches) {
    contraction.rowsPerSize = perSize * outputs;
  } else if (*symbolic == 0) {
    contraction.imagesPerSize = perSize;
    p.m = outputs;
    if (p.image)
      p.image->batch = 1;
  } else {
    auto func = op->getParentOfType<func::FuncOp>();
    kernels::Factored rows = kernels::factor(analysis.of(func.getArgument(contraction.left.arg))[1]);
    contraction.imageRowsPerSize = rows.coefficient;
    contraction.outputRowsPerSize = perSize;
    contraction.leastImageRows =
        rows.coefficient * func->getAttrOfType<DenseI64ArrayAttr>(pto::kLeastSizesAttr).asArrayRef().front();
    if (p.image) {
      p.image->h.slabLimit = contraction.leastImageRows; // lets slabFor exceed the greatest image
      p.image->h.slabLimit = std::max(contraction.leastImageRows, slabFor(p.image->h, kFewRows).extent);
    }
  }
  return success();
}

LogicalResult matchSizes(func::FuncOp func, Contraction &contraction) {
  if (!func->hasAttr(pto::kGreatestSizesAttr))
    return success();
  kernels::SizeAnalysis analysis(func);
  kernels::Sizes loops;
  for (Operation &op : func.getBody().front()) {
    if (failed(analysis.visit(&op)))
      return failure();
    auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
    if (linalgOp && isConvolution(linalgOp))
      return matchImages(linalgOp, analysis, contraction);
    if (linalgOp && isProduct(linalgOp))
      loops = analysis.ofLoops(linalgOp);
  }
  // [products,] rows, columns, depth; the outermost that is not 1, since all arguments have it outermost.
  std::optional<int64_t> symbolic = kernels::symbolicRow(loops);
  if (loops.empty() || !symbolic || *symbolic < 0 || loops.size() - *symbolic < 3)
    return func.emitError("is a product whose size at run time is neither its rows nor their number of products");
  int64_t perSize = kernels::factor(loops[*symbolic]).coefficient;
  (loops.size() - *symbolic == 3 ? contraction.rowsPerSize : contraction.outerPerSize) = perSize;
  return success();
}

} // namespace pto_mlir::cube
