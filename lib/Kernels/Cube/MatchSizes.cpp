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

/// The result is [images, rows, columns, ..].
static bool isConvolution(linalg::LinalgOp op) {
  return isa<linalg::Conv2DNhwcHwcfOp>(op.getOperation()) || matchGroupedConv(op);
}

/// A convolution of images whose number is known at run time is tiled like that of one image.
static LogicalResult matchImages(linalg::LinalgOp op, const kernels::Sizes &sizes, Contraction &contraction) {
  std::optional<int64_t> symbolic = kernels::symbolicRow(sizes);
  if (symbolic != 0)
    return op->emitError("is a convolution whose size at run time is not its number of images");
  CubeProblem &p = contraction.problem;
  int64_t perSize = kernels::factor(sizes[0]).coefficient;
  int64_t outputs = p.m / cast<RankedTensorType>(op->getResult(0).getType()).getDimSize(0);
  if (!p.image && !p.patches) {
    contraction.rowsPerSize = perSize * outputs;
    return success();
  }
  contraction.imagesPerSize = perSize;
  p.m = outputs;
  if (p.image)
    p.image->batch = 1;
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
      return matchImages(linalgOp, analysis.of(op.getResult(0)), contraction);
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
