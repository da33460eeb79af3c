#include "../Inference.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;
using namespace pto_mlir::top;

LogicalResult PermuteOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  auto type = cast<RankedTensorType>(adaptor.getInput().getType());
  ArrayRef<int64_t> perm = adaptor.getPerm();
  // isPermutationVector asks for distinct numbers only.
  auto inRange = [&](int64_t dim) { return dim >= 0 && dim < type.getRank(); };
  if (static_cast<int64_t>(perm.size()) != type.getRank() || !llvm::all_of(perm, inRange) || !isPermutationVector(perm))
    return inferError<PermuteOp>(loc, "expects perm to be a permutation of the ", type.getRank(),
                                 " dimensions of the input");
  types.push_back(
      RankedTensorType::get(applyPermutation(type.getShape(), perm), permutedElement(type.getElementType(), perm)));
  return success();
}
