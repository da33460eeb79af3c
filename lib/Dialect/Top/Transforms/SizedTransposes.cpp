//===- SizedTransposes.cpp - layouts of images of any size ----------------===//
//
// Inside of a net an extent that is known at run time stands outermost; images come and go with their channels in front
// of it. The permutes between the two are transposes of matrices whose rows or columns are known at run time, and
// permutes of what lies behind them.
//
//===----------------------------------------------------------------------===//

#include "pto_mlir/Dialect/Top/IR/Names.h"
#include "pto_mlir/Dialect/Top/IR/Top.h"
#include "pto_mlir/Dialect/Top/Transforms/Passes.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"

#define DEBUG_TYPE "top-sized-transposes"
#include "pto_mlir/Dialect/DebugLog.h"

using namespace mlir;

namespace pto_mlir::top {
#define GEN_PASS_DEF_TOPSIZEDTRANSPOSES
#include "pto_mlir/Dialect/Top/Transforms/Passes.h.inc"

namespace {

RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

/// The dimension of a tensor with these extents that is known at run time, where others that are not 1 stand before it.
std::optional<int64_t> innerSize(AffineMapAttr sizes) {
  std::optional<int64_t> found;
  bool isFirst = true;
  for (auto [dim, size] : llvm::enumerate(sizes ? sizes.getValue().getResults() : ArrayRef<AffineExpr>())) {
    auto constant = dyn_cast<AffineConstantExpr>(size);
    if (!constant && found)
      return std::nullopt;
    if (!constant && isFirst)
      return std::nullopt;
    if (!constant)
      found = dim;
    isFirst &= constant && constant.getValue() == 1;
  }
  return found;
}

/// Does a permute by `perm` move only dimensions of size 1 of a tensor of this shape?
bool keepsOrder(ArrayRef<int64_t> perm, ArrayRef<int64_t> shape) {
  auto moved = llvm::make_filter_range(perm, [&](int64_t dim) { return shape[dim] != 1; });
  return llvm::is_sorted(llvm::to_vector(moved));
}

class Boundary {
public:
  explicit Boundary(func::FuncOp func) : func(func), builder(func.getContext()) {}

  void run() {
    for (auto [i, argument] : llvm::enumerate(func.getArguments()))
      if (auto dim = innerSize(func.getArgAttrOfType<AffineMapAttr>(i, kSizesAttr)))
        for (Operation *user : llvm::make_early_inc_range(argument.getUsers()))
          convertInput(user, *dim);
    Operation *end = func.getBody().front().getTerminator();
    for (OpOperand &result : end->getOpOperands())
      if (auto dim = innerSize(func.getResultAttrOfType<AffineMapAttr>(result.getOperandNumber(), kSizesAttr)))
        convertOutput(result, *dim);
  }

private:
  Value reshape(Location loc, Value value, ArrayRef<int64_t> shape) {
    return shape == typeOf(value).getShape() ? value : builder.create<ReshapeOp>(loc, value, shape).getOutput();
  }

  /// `value` as a matrix whose columns are its dimensions from `dim` on, transposed: the shape that this has, too.
  std::pair<Value, SmallVector<int64_t>> turn(Value value, int64_t dim) {
    ArrayRef<int64_t> shape = typeOf(value).getShape();
    Location unnamed = builder.getUnknownLoc();
    int64_t front = computeProduct(shape.take_front(dim)), back = computeProduct(shape.drop_front(dim));
    SmallVector<int64_t> turned(shape.drop_front(dim));
    llvm::append_range(turned, shape.take_front(dim));
    Value matrix = reshape(unnamed, value, {front, back});
    return {builder.create<TransposeRowsOp>(unnamed, matrix).getOutput(), turned};
  }

  /// permute(cast(input)) or permute(input): the input is turned first.
  void convertInput(Operation *user, int64_t dim) {
    Operation *first = user;
    auto cast = dyn_cast<CastOp>(user);
    if (cast && llvm::hasSingleElement(cast.getOutput().getUsers()))
      user = *cast.getOutput().user_begin();
    auto permute = dyn_cast<PermuteOp>(user);
    if (!permute)
      return;
    builder.setInsertionPoint(permute);
    auto [turned, shape] = turn(first->getOperand(0), dim);
    int64_t rank = shape.size();
    Value value = cast ? builder.create<CastOp>(builder.getUnknownLoc(), turned, cast.getTo()).getOutput() : turned;
    value = reshape(builder.getUnknownLoc(), value, shape);
    // Where each dimension of the input is now.
    SmallVector<int64_t> perm;
    for (int64_t from : permute.getPerm())
      perm.push_back(from >= dim ? from - dim : from + rank - dim);
    if (keepsOrder(perm, shape))
      value = reshape(permute.getLoc(), value, typeOf(permute.getOutput()).getShape());
    else
      value = builder.create<PermuteOp>(permute.getLoc(), value, perm);
    permute.getOutput().replaceAllUsesWith(value);
    permute.erase();
    if (cast && cast.use_empty())
      cast.erase();
  }

  /// cast(permute(x)) or permute(x): the output is turned last.
  void convertOutput(OpOperand &result, int64_t dim) {
    auto cast = result.get().getDefiningOp<CastOp>();
    Value permuted = cast ? cast.getInput() : result.get();
    auto permute = permuted.getDefiningOp<PermuteOp>();
    if (!permute)
      return;
    builder.setInsertionPoint(result.getOwner());
    Location unnamed = builder.getUnknownLoc(), loc = result.get().getLoc();
    ArrayRef<int64_t> shape = typeOf(permuted).getShape();
    int64_t rank = shape.size();
    // Rotated so that the size stands first.
    SmallVector<int64_t> perm(permute.getPerm());
    std::rotate(perm.begin(), perm.begin() + dim, perm.end());
    SmallVector<int64_t> rotated(shape.drop_front(dim));
    llvm::append_range(rotated, shape.take_front(dim));
    Value value = permute.getInput();
    if (!keepsOrder(perm, typeOf(value).getShape()))
      value = builder.create<PermuteOp>(unnamed, value, perm);
    if (cast)
      value = builder.create<CastOp>(unnamed, value, cast.getTo());
    auto turned = turn(reshape(unnamed, value, rotated), rank - dim);
    result.set(builder.create<ReshapeOp>(loc, turned.first, shape));
    for (Operation *op : {cast.getOperation(), permute.getOperation()})
      if (op && op->use_empty())
        op->erase();
  }

  func::FuncOp func;
  OpBuilder builder;
};

struct TopSizedTransposes : impl::TopSizedTransposesBase<TopSizedTransposes> {
  void runOnOperation() override {
    auto main = getOperation().lookupSymbol<func::FuncOp>("main");
    if (!main || !main->hasAttr(kSymbolsAttr))
      return;
    PTO_DEBUG("@main");
    Boundary(main).run();
  }
};

} // namespace
} // namespace pto_mlir::top
