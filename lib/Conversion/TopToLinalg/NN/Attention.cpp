//===- Attention.cpp - attention as products and a softmax ------------------===//
//
// The form in which scores exist as a tensor in f32. Query heads that share a head of K and V are stacked as rows of
// one product, so that neither K nor V is repeated.
//
//===----------------------------------------------------------------------===//

#include "../LinalgBuilders.h"
#include "../Patterns.h"
#include "pto_mlir/Dialect/Top/IR/Constants.h"
#include "pto_mlir/Dialect/Top/IR/Top.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <limits>

using namespace mlir;

namespace pto_mlir::top_to_linalg {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Value addition(OpBuilder &b, Location loc, ValueRange args) { return b.create<arith::AddFOp>(loc, args[0], args[1]); }
Value maximum(OpBuilder &b, Location loc, ValueRange args) {
  return b.create<arith::MaximumFOp>(loc, args[0], args[1]);
}

class Decomposition {
public:
  Decomposition(top::AttentionOp op, PatternRewriter &b)
      : op(op), b(b), inner(innerLoc(op.getLoc())), f32(b.getF32Type()), extents(op.getExtents()),
        heads(op.getQHeads()), kvHeads(op.getKvHeads()) {}

  Value build() {
    Value query = batches(op.getQuery(), op.getQLayout(), heads), key = batches(op.getKey(), op.getKLayout(), kvHeads),
          value = batches(op.getValue(), op.getVLayout(), kvHeads);
    Value weights = softmax(scores(query, key));
    return result(product<linalg::BatchMatmulOp>(weights, value));
  }

private:
  // `value` as [batch * kv_heads, rows, depth]; rows of the query heads that share a head follow each other.
  Value batches(Value value, StringRef layout, int64_t count) {
    auto type = cast<RankedTensorType>(value.getType());
    ArrayRef<int64_t> shape = type.getShape();
    int64_t rows = layout == "BNSD" ? shape[2] : shape[1];
    int64_t depth = layout == "BNSD" ? shape[3] : shape[2] / count;
    if (layout == "BSND")
      value = exchanged(reshape(b, inner, value, {extents.batch, rows, count, depth}), inner);
    return reshape(b, inner, value, {extents.batch * kvHeads, count / kvHeads * rows, depth});
  }

  // Exchanges the two dimensions in the middle of four.
  Value exchanged(Value value, Location loc) {
    auto type = cast<RankedTensorType>(value.getType());
    ArrayRef<int64_t> shape = type.getShape();
    Value init = empty(b, inner, {shape[0], shape[2], shape[1], shape[3]}, type.getElementType());
    return b.create<linalg::TransposeOp>(loc, value, init, ArrayRef<int64_t>{0, 2, 1, 3})->getResult(0);
  }

  // A product of matrices in f32.
  template <typename ProductOp> Value product(Value lhs, Value rhs) {
    auto left = cast<RankedTensorType>(lhs.getType()).getShape(),
         right = cast<RankedTensorType>(rhs.getType()).getShape();
    bool transposed = std::is_same_v<ProductOp, linalg::BatchMatmulTransposeBOp>;
    Value init = filled(b, inner, {left[0], left[1], right[transposed ? 1 : 2]}, f32, 0);
    return b.create<ProductOp>(inner, init.getType(), ValueRange{lhs, rhs}, init)->getResult(0);
  }

  // A constant with one number per row, [queries, 1].
  Value perRow(llvm::function_ref<double(int64_t)> number) {
    std::vector<double> numbers;
    numbers.reserve(extents.queries);
    for (int64_t i = 0; i < extents.queries; ++i)
      numbers.push_back(number(i));
    return top::createConstant(b, inner, "rows", RankedTensorType::get({extents.queries, 1}, f32),
                               top::fromDoubles(f32, numbers));
  }

  // Half before the first (side 0) or behind the last (side 1) key that each row sees, in f32; null where that is no
  // limit. With halves no limits are the same constant as the numbers of the keys, which a kernel would read both as
  // rows and as columns.
  Value limit(int side) {
    int64_t window = op.getWindow()[side];
    double half = side == 0 ? -0.5 : 0.5;
    std::optional<int64_t> distance; // from the row's own position
    if (window >= 0)
      distance = side == 0 ? -window : window;
    if (side == 1 && op.getCausal())
      distance = 0;
    if (std::optional<int64_t> offset = op.getFixedOffset(); distance && offset) {
      Value fixed = perRow([&](int64_t row) { return static_cast<double>(row + *offset + *distance) + half; });
      return side == 1 && op.getLengths() ? atMostLength(fixed) : fixed;
    }
    if (!distance)
      return side == 1 && op.getLengths() ? atMostLength({}) : Value();
    // Rows end where the keys do: row i of Sq is at length - Sq + i.
    Value rows = perRow([&](int64_t row) { return static_cast<double>(row - extents.queries + *distance) + half; });
    auto type = RankedTensorType::get({extents.batch, 1, extents.queries, 1}, f32);
    return elementwise(b, inner, type, {lengths(), rows}, f32, [&](OpBuilder &b, Location loc, ValueRange args) {
      Value number = addition(b, loc, args);
      if (side == 0)
        return number;
      Value last = b.create<arith::SubFOp>(loc, args[0], scalar(b, loc, f32, 0.5));
      return b.create<arith::MinimumFOp>(loc, number, last).getResult();
    });
  }

  Value lengths() { return reshape(b, inner, op.getLengths(), {extents.batch, 1, 1, 1}); }

  // min(limit, length - 1/2).
  Value atMostLength(Value limit) {
    auto type = RankedTensorType::get({extents.batch, 1, limit ? extents.queries : 1, 1}, f32);
    SmallVector<Value> operands{lengths()};
    if (limit)
      operands.push_back(limit);
    return elementwise(b, inner, type, operands, f32, [&](OpBuilder &b, Location loc, ValueRange args) {
      Value last = b.create<arith::SubFOp>(loc, args[0], scalar(b, loc, f32, 0.5));
      return limit ? b.create<arith::MinimumFOp>(loc, last, args[1]).getResult() : last;
    });
  }

  // The numbers 0, 1, .. of the keys.
  Value keyNumbers() {
    std::vector<double> numbers;
    numbers.reserve(extents.keys);
    for (int64_t j = 0; j < extents.keys; ++j)
      numbers.push_back(static_cast<double>(j));
    return top::createConstant(b, inner, "keys", RankedTensorType::get({extents.keys}, f32),
                               top::fromDoubles(f32, numbers));
  }

  // Scaled, capped, biased scores; minus infinity for keys that a row does not see.
  Value scores(Value query, Value key) {
    Value raw = reshape(b, inner, product<linalg::BatchMatmulTransposeBOp>(query, key),
                        {extents.batch, heads, extents.queries, extents.keys});
    double scale = op.getScale().convertToDouble(), cap = op.getSoftcap().convertToDouble();
    Value first = limit(0), last = limit(1);
    SmallVector<Value> operands{raw};
    for (Value more : {Value(op.getBias()), first, last})
      if (more)
        operands.push_back(more);
    if (first || last)
      operands.push_back(keyNumbers());
    if (scale == 1 && cap == 0 && operands.size() == 1)
      return raw;
    auto mask = [&](OpBuilder &b, Location loc, arith::CmpFPredicate seen, Value key, Value limit, Value score) {
      Value visible = b.create<arith::CmpFOp>(loc, seen, key, limit);
      return b.create<arith::SelectOp>(loc, visible, score, scalar(b, loc, f32, -kInfinity)).getResult();
    };
    return elementwise(b, inner, cast<RankedTensorType>(raw.getType()), operands, f32,
                       [&](OpBuilder &b, Location loc, ValueRange args) {
                         Value score = args.front();
                         if (scale != 1)
                           score = b.create<arith::MulFOp>(loc, score, scalar(b, loc, f32, scale));
                         if (cap != 0) {
                           score = b.create<arith::MulFOp>(loc, score, scalar(b, loc, f32, 1 / cap));
                           score = b.create<math::TanhOp>(loc, score);
                           score = b.create<arith::MulFOp>(loc, score, scalar(b, loc, f32, cap));
                         }
                         ValueRange rest = args.drop_front();
                         if (op.getBias()) {
                           score = b.create<arith::AddFOp>(loc, score, rest.front());
                           rest = rest.drop_front();
                         }
                         Value key = args.back();
                         if (first) {
                           score = mask(b, loc, arith::CmpFPredicate::OGE, key, rest.front(), score);
                           rest = rest.drop_front();
                         }
                         return last ? mask(b, loc, arith::CmpFPredicate::OLE, key, rest.front(), score) : score;
                       });
  }

  // Like Softmax.cpp, with sinks in the sum and rows that see nothing.
  Value softmax(Value scores) {
    auto type = cast<RankedTensorType>(scores.getType());
    AffineMap whole = b.getMultiDimIdentityMap(4), statistic = whole.dropResult(3);
    Value greatest = reduce(b, inner, scores, 3, f32, -kInfinity, maximum);
    Value sinks = op.getSinks() ? reshape(b, inner, op.getSinks(), {heads, 1}) : Value();
    auto rows = cast<RankedTensorType>(greatest.getType());
    if (sinks)
      greatest = elementwise(b, inner, rows, {greatest, sinks}, f32, maximum);
    bool empty = op.mayHaveEmptyRows();
    if (empty) // minus infinity from itself is no number
      greatest = elementwise(b, inner, rows, greatest, f32, [&](OpBuilder &b, Location loc, ValueRange args) -> Value {
        Value least = scalar(b, loc, f32, -std::numeric_limits<float>::max());
        return b.create<arith::MaximumFOp>(loc, args[0], least);
      });
    auto exponential = [&](OpBuilder &b, Location loc, ValueRange args) -> Value {
      return b.create<math::ExpOp>(loc, b.create<arith::SubFOp>(loc, args[0], args[1]));
    };
    Value exponentials = elementwiseMapped(b, inner, type, {scores, greatest}, {whole, statistic}, f32, exponential);
    Value sum = reduce(b, inner, exponentials, 3, f32, 0, addition);
    if (sinks)
      sum = elementwise(b, inner, rows, {sinks, greatest, sum}, f32, [&](OpBuilder &b, Location loc, ValueRange args) {
        return b.create<arith::AddFOp>(loc, exponential(b, loc, args.take_front(2)), args[2]).getResult();
      });
    if (empty) // the sum of a row that sees something is at least 1
      sum = elementwise(b, inner, rows, sum, f32, [&](OpBuilder &b, Location loc, ValueRange args) -> Value {
        return b.create<arith::MaximumFOp>(loc, args[0], scalar(b, loc, f32, 0.5));
      });
    auto storage = RankedTensorType::get(type.getShape(), getElementTypeOrSelf(op.getType()));
    Value weights = elementwiseMapped(b, inner, storage, {exponentials, sum}, {whole, statistic}, f32,
                                      [](OpBuilder &b, Location loc, ValueRange args) -> Value {
                                        return b.create<arith::DivFOp>(loc, args[0], args[1]);
                                      });
    return reshape(b, inner, weights, {extents.batch * kvHeads, heads / kvHeads * extents.queries, extents.keys});
  }

  Value result(Value sums) {
    Location loc = op.getLoc();
    auto type = cast<RankedTensorType>(op.getType());
    SmallVector<int64_t> shape{extents.batch, heads, extents.queries, extents.valueDepth};
    bool exchange = op.getResultLayout() == "BSND";
    bool converts = !type.getElementType().isF32();
    Value value = convertTensor(b, exchange || !converts ? inner : loc, sums, type.getElementType());
    value = reshape(b, exchange ? inner : loc, value, shape);
    return exchange ? reshape(b, inner, exchanged(value, loc), type.getShape()) : value;
  }

  top::AttentionOp op;
  PatternRewriter &b;
  Location inner;
  Type f32;
  top::AttentionOp::Extents extents;
  int64_t heads, kvHeads;
};

struct AttentionLowering : OpRewritePattern<top::AttentionOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(top::AttentionOp op, PatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, Decomposition(op, rewriter).build());
    return success();
  }
};

} // namespace

void populateAttention(RewritePatternSet &patterns) { patterns.add<AttentionLowering>(patterns.getContext()); }

} // namespace pto_mlir::top_to_linalg
