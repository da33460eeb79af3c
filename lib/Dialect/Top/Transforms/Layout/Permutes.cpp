//===- Permutes.cpp - Permutations between NCHW and NHWC ------------------===//

#include "Phases.h"

#include "pto_mlir/Dialect/Top/IR/Constants.h"
#include "pto_mlir/Dialect/Top/IR/Quantised.h"
#include "pto_mlir/Dialect/Top/IR/Top.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;

namespace pto_mlir::top::layout {

SmallVector<int64_t> Order::toChannelsLast(int64_t rank) const {
  if (columnsOuter && rank == 4)
    return {0, 3, 2, 1};
  SmallVector<int64_t> perm{0};
  llvm::append_range(perm, llvm::seq<int64_t>(2, rank));
  perm.push_back(1);
  return perm;
}

SmallVector<int64_t> Order::toChannelsFirst(int64_t rank) const {
  return invertPermutationVector(toChannelsLast(rank));
}

Order orderFor(func::FuncOp func) {
  auto isSize = [](AffineMapAttr sizes, unsigned dim) {
    return !isa<AffineConstantExpr>(sizes.getValue().getResult(dim));
  };
  Order order;
  for (unsigned i = 0; i < func.getNumArguments(); ++i)
    if (auto sizes = func.getArgAttrOfType<AffineMapAttr>(i, kSizesAttr);
        sizes && sizes.getValue().getNumResults() == 4)
      order.columnsOuter |= isSize(sizes, 3) && !isSize(sizes, 2);
  return order;
}

// The elements of `weight` in row-major order of the permuted shape.
static std::vector<char> permuteBytes(const Weight &weight, ArrayRef<int64_t> perm) {
  ArrayRef<int64_t> shape = weight.type.getShape();
  int64_t rank = weight.type.getRank(), size = elementBytes(weight.type.getElementType());
  SmallVector<int64_t> strides(rank, size), outShape = applyPermutation(shape, perm);
  for (int64_t dim = rank - 2; dim >= 0; --dim)
    strides[dim] = strides[dim + 1] * shape[dim + 1];
  SmallVector<int64_t> outStrides = applyPermutation(ArrayRef<int64_t>(strides), perm), index(rank, 0);
  std::vector<char> result(weight.bytes.size());
  const char *source = weight.bytes.data();
  for (size_t at = 0; at < result.size(); at += size) {
    std::copy_n(source, size, result.data() + at);
    for (int64_t dim = rank - 1; dim >= 0; --dim) {
      source += outStrides[dim];
      if (++index[dim] < outShape[dim])
        break;
      source -= outStrides[dim] * outShape[dim];
      index[dim] = 0;
    }
  }
  return result;
}

Value permuted(OpBuilder &builder, Location loc, Value value, ArrayRef<int64_t> perm) {
  if (llvm::equal(perm, llvm::seq<int64_t>(0, perm.size())))
    return value;
  std::optional<Weight> weight = getConstant(value);
  if (!weight)
    return builder.create<PermuteOp>(loc, value, perm);
  auto type = RankedTensorType::get(applyPermutation(weight->type.getShape(), perm),
                                    permutedElement(weight->type.getElementType(), perm));
  auto named = value.getDefiningOp<WeightOp>();
  std::string name = (named ? named.getName().str() : "constant") + ".nhwc";
  std::vector<char> bytes = permuteBytes(*weight, perm);
  // Ops that share a weight share it permuted.
  const Weight *other = builder.getContext()->getLoadedDialect<TopDialect>()->weights().lookup(name);
  if (named && other && other->type == type && other->bytes == ArrayRef(bytes))
    return builder.create<WeightOp>(value.getLoc(), type, name);
  return createConstant(builder, value.getLoc(), name, type, std::move(bytes));
}

Value ownPermute(OpBuilder &builder, Location loc, Value value, Order order) {
  int64_t rank = cast<RankedTensorType>(value.getType()).getRank();
  auto permute = builder.create<PermuteOp>(loc, value, order.toChannelsFirst(rank));
  permute->setAttr(kOwnAttr, builder.getUnitAttr());
  return permute;
}

Value underOwnPermute(Value value, Order order) {
  auto permute = value.getDefiningOp<PermuteOp>();
  if (!permute || !permute->hasAttr(kOwnAttr) || permute.getPerm().size() < 3 ||
      permute.getPerm() != ArrayRef(order.toChannelsFirst(permute.getPerm().size())))
    return nullptr;
  return permute.getInput();
}

Location channelsLastLoc(Location loc) { return namedLoc(loc.getContext(), getTensorName(loc), "NHWC"); }

} // namespace pto_mlir::top::layout
