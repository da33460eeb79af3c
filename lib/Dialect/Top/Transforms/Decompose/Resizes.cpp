// Resizes of element types that the lowering to linalg does not resize: one dimension after the other, by a gather
// where elements are copied, else by a product with the matrix of the weights. Integers are interpolated in f64, where
// the weights of an element add up to 1 exactly, and cut to whole numbers at the end, as onnxruntime does.
#include "Decompose.h"

#include "pto_mlir/Dialect/Top/IR/Constants.h"
#include "pto_mlir/Dialect/Top/IR/ResizeTaps.h"

using namespace mlir;

namespace pto_mlir::top::decompose {
namespace {

using Taps = std::vector<SmallVector<ResizeTap, 4>>;

class ResizeByDimension : public OpRewritePattern<ResizeOp> {
public:
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ResizeOp op, PatternRewriter &rewriter) const override {
    Type element = op.getType().getElementType();
    bool isDouble = element.isF64(), isOfNet = element.isF32() || element.isF16() || element.isBF16();
    // What the engines hold is repeated and sliced there. They may not hold 64 bits, nor 32 without a sign.
    bool isTaken = isa<IntegerType>(element) && llvm::is_contained({8, 16, 32}, element.getIntOrFloatBitWidth()) &&
                   !element.isUnsignedInteger(32);
    // Antialiased integers are rounded after each dimension by onnxruntime and cut by onnx's reference.
    bool mayInterpolate = isDouble || ((isTaken || element.isUnsignedInteger(32)) && !op.getAntialias());
    bool isInterpolated = false;
    std::vector<Taps> taps;
    for (int64_t dim = 0; dim < op.getType().getRank(); ++dim) {
      taps.push_back(resizeTaps(op, dim));
      auto indices = copiedIndices(taps.back());
      isInterpolated |= !indices;
      if (isInterpolated && !mayInterpolate)
        return rewriter.notifyMatchFailure(op, "interpolates, or is one of the engines' floats");
      isTaken &= indices && (repeatsEach(*indices, shapeOf(op.getInput())[dim]) || stepsEvenly(*indices));
    }
    if (isOfNet || isTaken)
      return rewriter.notifyMatchFailure(op, "the lowering to linalg takes it");
    Chain chain(rewriter);
    Value value = op.getInput();
    if (isInterpolated && !isDouble)
      value = rewriter.create<CastOp>(chain.loc, value, rewriter.getF64Type());
    for (auto [dim, list] : llvm::enumerate(taps)) {
      std::optional<SmallVector<int64_t>> indices = copiedIndices(list);
      if (indices && llvm::equal(*indices, llvm::seq<int64_t>(0, shapeOf(value)[dim])))
        continue;
      value = indices ? gathered(chain, value, *indices, dim) : multiplied(chain, value, list, dim);
    }
    value = extrapolated(chain, value, taps, op.getExtrapolationValue().convertToDouble());
    if (getElementTypeOrSelf(value.getType()) != element)
      value = rewriter.create<CastOp>(chain.loc, value, element);
    if (value == op.getInput())
      value = rewriter.create<ReshapeOp>(op.getLoc(), value, op.getType().getShape());
    value.getDefiningOp()->setLoc(op.getLoc());
    rewriter.replaceOp(op, value);
    return success();
  }

private:
  static Value gathered(Chain &chain, Value value, ArrayRef<int64_t> indices, int64_t dim) {
    Type i64 = chain.rewriter.getI64Type();
    Value list =
        createConstant(chain.rewriter, chain.loc, "indices",
                       RankedTensorType::get({static_cast<int64_t>(indices.size())}, i64), fromInts(i64, indices));
    return chain.rewriter.create<GatherOp>(chain.loc, value, list, dim);
  }

  // [.., i, ..] -> [.., rest, i] x [i, o] -> [.., o, ..]
  static Value multiplied(Chain &chain, Value value, const Taps &taps, int64_t dim) {
    int64_t rank = shapeOf(value).size(), in = shapeOf(value)[dim], out = taps.size();
    std::vector<double> matrix(in * out, 0.0);
    for (auto [o, list] : llvm::enumerate(taps))
      for (const ResizeTap &tap : list)
        matrix[tap.index * out + o] += tap.weight;
    SmallVector<int64_t> perm = llvm::to_vector(llvm::seq<int64_t>(0, rank));
    std::swap(perm[dim], perm[rank - 1]);
    value = chain.permute(value, perm);
    SmallVector<int64_t> shape(shapeOf(value));
    shape.back() = out;
    Value rows = chain.reshape(value, {ShapedType::getNumElements(shapeOf(value)) / in, in});
    Value weights = chain.constant("resize", getElementTypeOrSelf(value.getType()), {in, out}, matrix);
    Value product = chain.rewriter.create<MatMulOp>(chain.loc, rows, weights, Value(), false, false, TypeAttr());
    return chain.permute(chain.reshape(product, shape), perm);
  }

  // Elements outside of the image in some dimension.
  static Value extrapolated(Chain &chain, Value value, ArrayRef<Taps> taps, double amount) {
    Type element = getElementTypeOrSelf(value.getType());
    for (auto [dim, lists] : llvm::enumerate(taps)) {
      auto isOutside = [](const SmallVector<ResizeTap, 4> &list) { return list.empty(); };
      if (amount == 0 || llvm::none_of(lists, isOutside))
        continue;
      std::vector<double> kept, added;
      for (const auto &list : lists) {
        kept.push_back(list.empty() ? 0 : 1);
        added.push_back(list.empty() ? amount : 0);
      }
      SmallVector<int64_t> along(shapeOf(value).size(), 1);
      along[dim] = lists.size();
      value = chain.rewriter.create<MulOp>(chain.loc, value, chain.constant("resize", element, along, kept));
      value = chain.rewriter.create<AddOp>(chain.loc, value, chain.constant("resize", element, along, added));
    }
    return value;
  }
};

} // namespace

void populateResizes(RewritePatternSet &patterns) { patterns.add<ResizeByDimension>(patterns.getContext()); }

} // namespace pto_mlir::top::decompose
