//===- Resize.cpp - interpolation along each dimension --------------------===//
//
// Along a dimension, output element o is a weighted sum of a few input elements
// (ResizeTaps.h). Three cases are distinguished: every s-th element is a strided
// slice; every element repeated s times is a broadcasting copy; all others are a
// product with the weight matrix, which runs on the cube core.
//
//===----------------------------------------------------------------------===//

#include "../LinalgBuilders.h"
#include "../Patterns.h"
#include "pto_mlir/Dialect/Top/IR/Constants.h"
#include "pto_mlir/Dialect/Top/IR/ResizeTaps.h"

using namespace mlir;

namespace pto_mlir::top_to_linalg {
namespace {

using Taps = std::vector<SmallVector<top::ResizeTap, 4>>;

class ResizeBuilder {
public:
  ResizeBuilder(top::ResizeOp op, PatternRewriter &rewriter)
      : op(op), rewriter(rewriter), inner(innerLoc(op.getLoc())), value(op.getInput()) {}
  LogicalResult run();

private:
  ArrayRef<int64_t> shape() { return cast<RankedTensorType>(value.getType()).getShape(); }
  void multiply(int64_t dim, const Taps &taps);
  void repeat(ArrayRef<int64_t> times);
  void extrapolate(ArrayRef<Taps> taps);

  top::ResizeOp op;
  PatternRewriter &rewriter;
  Location inner;
  Value value;
};

// value'[.., o, ..] = sum over i of matrix[o, i] * value[.., i, ..]
void ResizeBuilder::multiply(int64_t dim, const Taps &taps) {
  auto type = cast<RankedTensorType>(value.getType());
  int64_t rank = type.getRank(), in = type.getDimSize(dim), out = taps.size(), rest = type.getNumElements() / in;
  // The matrix is the right operand if all later dimensions are 1, else the left operand with the dimension moved to
  // the front.
  bool last = llvm::all_of(shape().drop_front(dim + 1), [](int64_t size) { return size == 1; });
  bool first = llvm::all_of(shape().take_front(dim), [](int64_t size) { return size == 1; });
  std::vector<double> matrix(in * out, 0.0);
  for (auto [o, list] : llvm::enumerate(taps))
    for (const top::ResizeTap &tap : list)
      matrix[last ? tap.index * out + o : o * in + tap.index] += tap.weight;
  auto matrixType =
      RankedTensorType::get(last ? ArrayRef<int64_t>{in, out} : ArrayRef<int64_t>{out, in}, type.getElementType());
  Value weights =
      top::createConstant(rewriter, inner, "resize", matrixType, top::fromDoubles(type.getElementType(), matrix));
  SmallVector<int64_t> result(shape()), front{dim}, back;
  result[dim] = out;
  for (int64_t i = 0; i < rank; ++i)
    if (i != dim)
      front.push_back(i);
  for (int64_t i = 0; i < rank; ++i)
    back.push_back(i == dim ? 0 : i < dim ? i + 1 : i);
  bool moves = !last && !first;
  if (moves)
    value = rewriter.create<top::PermuteOp>(inner, value, front);
  value =
      rewriter.create<top::ReshapeOp>(inner, value, last ? ArrayRef<int64_t>{rest, in} : ArrayRef<int64_t>{in, rest});
  value = rewriter.create<top::MatMulOp>(inner, last ? value : weights, last ? weights : value, Value(), false, false,
                                         TypeAttr());
  SmallVector<int64_t> moved;
  for (int64_t i : front)
    moved.push_back(result[i]);
  value = rewriter.create<top::ReshapeOp>(inner, value, moves ? moved : result);
  if (moves)
    value = rewriter.create<top::PermuteOp>(inner, value, back);
}

// Repeats each element `times[d]` times along dimension d, as one broadcasting copy [.., i, ..] -> [.., i, 0 .. times -
// 1, ..].
void ResizeBuilder::repeat(ArrayRef<int64_t> times) {
  if (llvm::all_of(times, [](int64_t count) { return count == 1; }))
    return;
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> split, merged;
  SmallVector<AffineExpr> reads;
  for (auto [size, count] : llvm::zip(type.getShape(), times)) {
    reads.push_back(rewriter.getAffineDimExpr(split.size()));
    split.push_back(size);
    if (count != 1)
      split.push_back(count);
    merged.push_back(size * count);
  }
  auto repeated = RankedTensorType::get(split, type.getElementType());
  AffineMap map = AffineMap::get(split.size(), 0, reads, rewriter.getContext());
  value = elementwiseMapped(rewriter, inner, repeated, value, map, type.getElementType(),
                            [](OpBuilder &, Location, ValueRange args) { return args[0]; });
  value = rewriter.create<top::ReshapeOp>(inner, value, merged);
}

// Sets elements outside the image in some dimension to the extrapolation value.
void ResizeBuilder::extrapolate(ArrayRef<Taps> taps) {
  double amount = op.getExtrapolationValue().convertToDouble();
  auto type = cast<RankedTensorType>(value.getType());
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    std::vector<double> kept, added;
    for (const auto &list : taps[dim]) {
      kept.push_back(list.empty() ? 0 : 1);
      added.push_back(list.empty() ? amount : 0);
    }
    if (amount == 0 || llvm::all_of(kept, [](double keep) { return keep == 1; }))
      continue;
    SmallVector<int64_t> along(type.getRank(), 1);
    along[dim] = type.getDimSize(dim);
    auto constant = [&](ArrayRef<double> values) {
      return top::createConstant(rewriter, inner, "extrapolated", RankedTensorType::get(along, type.getElementType()),
                                 top::fromDoubles(type.getElementType(), values));
    };
    value = rewriter.create<top::MulOp>(inner, value, constant(kept));
    value = rewriter.create<top::AddOp>(inner, value, constant(added));
  }
}

LogicalResult ResizeBuilder::run() {
  int64_t rank = shape().size();
  std::vector<Taps> taps;
  SmallVector<int64_t> times(rank, 1), starts(rank, 0), ends(shape()), strides(rank, 1), products;
  for (int64_t dim = 0; dim < rank; ++dim) {
    int64_t in = shape()[dim], out = op.getSizes()[dim];
    taps.push_back(top::resizeTaps(op, dim));
    std::optional<SmallVector<int64_t>> indices = top::copiedIndices(taps.back());
    if (indices && top::repeatsEach(*indices, in)) {
      times[dim] = out / in;
    } else if (indices && top::stepsEvenly(*indices)) {
      starts[dim] = indices->front();
      ends[dim] = indices->back() + 1;
      strides[dim] = out > 1 ? (*indices)[1] - (*indices)[0] : 1;
    } else {
      products.push_back(dim);
    }
  }
  if (!products.empty() && !isa<FloatType>(cast<RankedTensorType>(value.getType()).getElementType()))
    return op.emitOpError("of integers by this factor has no lowering; cast the input to float");
  if (ArrayRef<int64_t>(ends) != shape() || llvm::any_of(strides, [](int64_t step) { return step != 1; }))
    value = rewriter.create<top::SliceOp>(inner, value, starts, ends, strides);
  for (int64_t dim : products)
    multiply(dim, taps[dim]);
  repeat(times);
  extrapolate(taps);
  if (value != op.getInput())
    value.getDefiningOp()->setLoc(op.getLoc());
  rewriter.replaceOp(op, value);
  return success();
}

struct ResizeLowering : OpRewritePattern<top::ResizeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(top::ResizeOp op, PatternRewriter &rewriter) const override {
    return ResizeBuilder(op, rewriter).run();
  }
};

} // namespace

void populateResize(RewritePatternSet &patterns) { patterns.add<ResizeLowering>(patterns.getContext()); }

} // namespace pto_mlir::top_to_linalg
