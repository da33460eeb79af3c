//===- MatchSizes.cpp - sizes of a product that are known at run time -----===//

#include "../Sizes/SizeAnalysis.h"
#include "Contraction.h"

#include "pto_mlir/Dialect/PTO/IR/PTO.h"

using namespace mlir;

namespace pto_mlir::cube {

static bool isProduct(linalg::LinalgOp op) {
  return isa<linalg::MatmulOp, linalg::MatmulTransposeBOp, linalg::BatchMatmulOp, linalg::BatchMatmulTransposeBOp>(
      op.getOperation());
}

LogicalResult matchSizes(func::FuncOp func, Contraction &contraction) {
  if (!func->hasAttr(pto::kGreatestSizesAttr))
    return success();
  kernels::SizeAnalysis analysis(func);
  kernels::Sizes loops;
  for (Operation &op : func.getBody().front()) {
    if (failed(analysis.visit(&op)))
      return failure();
    if (auto product = dyn_cast<linalg::LinalgOp>(op); product && isProduct(product))
      loops = analysis.ofLoops(product);
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
