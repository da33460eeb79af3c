//===- MatchSizes.cpp - rows of a product that are known at run time ------===//

#include "../Sizes/SizeAnalysis.h"
#include "Contraction.h"

#include "pto_mlir/Dialect/PTO/IR/PTO.h"

using namespace mlir;

namespace pto_mlir::cube {

LogicalResult matchSizes(func::FuncOp func, Contraction &contraction) {
  auto greatest = func->getAttrOfType<IntegerAttr>(pto::kGreatestSizeAttr);
  if (!greatest)
    return success();
  auto isSymbolic = [&](const Matrix &matrix) {
    auto map = func.getArgAttrOfType<AffineMapAttr>(matrix.arg, pto::kSizesAttr);
    return map && !kernels::areConstant(map.getValue().getResults());
  };
  const CubeProblem &problem = contraction.problem;
  bool rows = isSymbolic(contraction.left) && isSymbolic(contraction.out) && !isSymbolic(contraction.right) &&
              !(contraction.bias && isSymbolic(*contraction.bias));
  if (!rows || problem.outer != 1 || problem.image || problem.patches || problem.m % greatest.getInt() != 0)
    return func.emitError("is a product whose size at run time is not its number of rows");
  contraction.greatestSize = greatest.getInt();
  contraction.rowsPerSize = problem.m / greatest.getInt();
  return success();
}

} // namespace pto_mlir::cube
