//===- Reduce.cpp - sum, mean, maximum, minimum over axes -----------------===//

#include "../LinalgBuilders.h"
#include "../Patterns.h"
#include "pto_mlir/Cost/Prices.h"
#include "pto_mlir/Dialect/PTO/IR/PTOTraits.h"
#include "pto_mlir/Dialect/Top/IR/Names.h"
#include "pto_mlir/Dialect/Top/IR/Top.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <limits>
#include <numeric>

using namespace mlir;

namespace pto_mlir::top_to_linalg {
namespace {

template <typename TopOp> constexpr bool isMax = std::is_same_v<TopOp, top::ReduceMaxOp>;
template <typename TopOp> constexpr bool isMin = std::is_same_v<TopOp, top::ReduceMinOp>;
template <typename TopOp> constexpr bool isMean = std::is_same_v<TopOp, top::ReduceMeanOp>;

template <typename TopOp> Value combine(OpBuilder &b, Location loc, Value element, Value sofar) {
  bool isFloat = isa<FloatType>(element.getType());
  if constexpr (isMax<TopOp>)
    return isFloat ? b.create<arith::MaximumFOp>(loc, element, sofar).getResult()
                   : b.create<arith::MaxSIOp>(loc, element, sofar).getResult();
  else if constexpr (isMin<TopOp>)
    return isFloat ? b.create<arith::MinimumFOp>(loc, element, sofar).getResult()
                   : b.create<arith::MinSIOp>(loc, element, sofar).getResult();
  else
    return isFloat ? b.create<arith::AddFOp>(loc, element, sofar).getResult()
                   : b.create<arith::AddIOp>(loc, element, sofar).getResult();
}

template <typename TopOp> double neutral(Type type) {
  if constexpr (!isMax<TopOp> && !isMin<TopOp>)
    return 0;
  double sign = isMax<TopOp> ? -1 : 1;
  if (isa<FloatType>(type))
    return sign * std::numeric_limits<double>::infinity();
  // Exact in double up to 32 bits; for 64 bits use the largest double below the bound.
  unsigned bits = type.getIntOrFloatBitWidth();
  return bits > 32  ? sign * 9223372036854774784.0
         : sign < 0 ? -std::ldexp(1.0, bits - 1)
                    : std::ldexp(1.0, bits - 1) - 1;
}

constexpr int64_t kManyRows = 1024;

/// Into how many sums of `rows / parts` rows each of `images` sums of `rows` rows is taken apart; 1: not at all. A core
/// adds 64 columns of a row with one instruction, and channels may be too few to fill it and to keep all cores busy.
/// Side by side, `parts` rows are a row of `parts` times the columns; the sums of the parts are then the rows of a
/// second, short sum. Costs in cycles of the busiest core when all of the chip's cores share the sums; the number of
/// cores for which a model is compiled has no part in them, so that the order of additions is the same on any.
int64_t partsOf(int64_t images, int64_t rows, int64_t columns, const cost::Prices &prices) {
  constexpr int64_t kWide = 64, kTileRows = 64; // f32 elements of one repeat; rows that are added at a time
  auto sum = [&](int64_t height, int64_t width) {
    int64_t trips = llvm::divideCeil(images * llvm::divideCeil(width, kWide), prices.vectorCores());
    double add = double(height / kTileRows) * prices.foldedRows(kTileRows, kWide, 4) +
                 prices.foldedRows(height % kTileRows, kWide, 4);
    return double(trips) * std::max(add, prices.transfer(cost::Way::ToUB, double(height * std::min(width, kWide) * 4)));
  };
  if (rows < kManyRows && columns >= kWide * 4)
    return 1;
  int64_t best = 1;
  double least = sum(rows, columns);
  for (int64_t parts = 2; parts < rows; ++parts)
    if (rows % parts == 0)
      if (double cost = sum(rows / parts, parts * columns) + sum(parts, columns) + prices.launch(); cost < least) {
        best = parts;
        least = cost;
      }
  return best;
}

/// What is reduced: kernels widen it to f32 themselves.
template <typename TopOp> Value summed(TopOp op) {
  auto cast = op.getInput().template getDefiningOp<top::CastOp>();
  if (!cast || !cast.getTo().isF32() ||
      !isa<Float16Type, BFloat16Type>(getElementTypeOrSelf(cast.getInput().getType())))
    return op.getInput();
  return cast.getInput();
}

/// Rows known at run time between outer and inner dimensions that are reduced by a template.
template <typename TopOp> LogicalResult lowerOverSize(TopOp op, PatternRewriter &rewriter) {
  ArrayRef<int64_t> axes = op.getAxes();
  if (axes.empty() || axes.back() - axes.front() + 1 != int64_t(axes.size()))
    return op.emitOpError("reduces over a size that is known at run time, and over a dimension apart from it");
  Location inner = innerLoc(op.getLoc());
  StringRef kind = isMax<TopOp> ? "max" : isMin<TopOp> ? "min" : isMean<TopOp> ? "mean" : "sum";
  Value rows = joinAround(rewriter, inner, summed(op), axes.front(), axes.back() + 1);
  ArrayRef<int64_t> shape = cast<RankedTensorType>(rows.getType()).getShape();
  // Few columns occupy few cores: many rows are cut into parts, which are few rows.
  constexpr int64_t kPieces = 48, kWide = 64;
  int64_t parts = shape[1] < kManyRows || shape[2] == 1
                      ? 1
                      : std::max<int64_t>(kPieces / (shape[0] * llvm::divideCeil(shape[2], kWide)), 1);
  if (parts > 1) {
    rows = rewriter.create<top::ReduceRowsOp>(inner, rows, kind, parts);
    kind = isMean<TopOp> ? "sum" : kind;
  }
  Type target = getElementTypeOrSelf(op.getType());
  auto reduced = rewriter.create<top::ReduceRowsOp>(op.getLoc(), rows, kind, 1);
  if (target.isF32())
    reduced.getOutput().setType(RankedTensorType::get(reduced.getType().getShape(), target));
  Value result = reduced;
  if (target != reduced.getType().getElementType()) {
    reduced->setLoc(inner);
    result = rewriter.create<top::CastOp>(op.getLoc(), reduced, target);
  }
  rewriter.replaceOp(op, reshape(rewriter, inner, result, op.getType().getShape()));
  return success();
}

template <typename TopOp> struct ReduceLowering : OpRewritePattern<TopOp> {
  using OpRewritePattern<TopOp>::OpRewritePattern;
  LogicalResult matchAndRewrite(TopOp op, PatternRewriter &rewriter) const override {
    if (op->hasAttr(top::kOverSizeAttr))
      return lowerOverSize(op, rewriter);
    Value value = summed(op);
    auto inputType = cast<RankedTensorType>(value.getType());
    auto resultType = cast<RankedTensorType>(op.getType());
    Type storage = inputType.getElementType(), target = resultType.getElementType();
    Type accumulator = isa<Float16Type, BFloat16Type>(storage) ? Type(rewriter.getF32Type()) : storage;
    SmallVector<int64_t> axes = llvm::to_vector(op.getAxes());
    llvm::sort(axes);
    int64_t count = 1;
    for (int64_t axis : axes)
      count *= inputType.getDimSize(axis);
    bool convert = accumulator != target, scale = isMean<TopOp> && count != 1;

    // If parallel dimensions lie between, reduce the innermost dimensions first: a tile reduces either along rows or
    // along columns.
    SmallVector<SmallVector<int64_t>> steps{axes};
    SmallVector<int64_t> suffix;
    int64_t rank = inputType.getRank();
    while (!axes.empty() && axes.back() == rank - 1 - static_cast<int64_t>(suffix.size()))
      suffix.insert(suffix.begin(), axes.pop_back_val());
    if (!suffix.empty() && !axes.empty())
      steps = {suffix, axes};
    else if (steps.front().empty())
      steps.clear();

    // A sum over rows is distributed by columns, which may be few.
    auto add = [](OpBuilder &b, Location bodyLoc, ValueRange args) {
      return combine<TopOp>(b, bodyLoc, args[0], args[1]);
    };
    constexpr int64_t kLarge = 1 << 18;
    int64_t parts = 1;
    if (suffix.empty() && !axes.empty() && axes.back() - axes.front() + 1 == int64_t(axes.size())) {
      ArrayRef<int64_t> shape = inputType.getShape(), behind = shape.drop_front(axes.back() + 1),
                        before = shape.take_front(axes.front());
      auto product = [](ArrayRef<int64_t> sizes) {
        return std::accumulate(sizes.begin(), sizes.end(), int64_t(1), std::multiplies<>());
      };
      parts = partsOf(product(before), count, product(behind), cost::Prices(pto::targetOf(op).name));
      if (parts > 1) {
        Location inner = innerLoc(op.getLoc());
        SmallVector<int64_t> parted(before);
        parted.append({count / parts, parts});
        llvm::append_range(parted, behind);
        value = reduce(rewriter, inner, reshape(rewriter, inner, value, parted), axes.front(), accumulator,
                       neutral<TopOp>(accumulator), add);
        steps = {{axes.front()}};
      }
    }
    // For a large image whose number of pixels has no such divisor, sum each row of pixels first.
    if (parts == 1 && !axes.empty() && inputType.getNumElements() >= kLarge) {
      SmallVector<int64_t> outer = steps.pop_back_val(), inner{outer.pop_back_val()};
      steps.push_back(inner);
      if (!outer.empty())
        steps.push_back(outer);
    }

    for (auto [index, step] : llvm::enumerate(steps)) {
      bool last = index + 1 == steps.size() && !convert && !scale;
      Location loc = last ? op.getLoc() : innerLoc(op.getLoc());
      value = reduce(rewriter, loc, value, step, accumulator, neutral<TopOp>(accumulator), add);
    }
    if (scale || convert) {
      auto type = RankedTensorType::get(cast<RankedTensorType>(value.getType()).getShape(), target);
      value = elementwise(rewriter, op.getLoc(), type, value, accumulator,
                          [&](OpBuilder &b, Location loc, ValueRange args) -> Value {
                            if (!scale)
                              return args[0];
                            Value divisor = scalar(b, loc, accumulator, static_cast<double>(count));
                            if (isa<FloatType>(accumulator))
                              return b.create<arith::DivFOp>(loc, args[0], divisor);
                            return b.create<arith::DivSIOp>(loc, args[0], divisor);
                          });
    }
    rewriter.replaceOp(op, reshape(rewriter, innerLoc(op.getLoc()), value, resultType.getShape()));
    return success();
  }
};

} // namespace

void populateReduce(RewritePatternSet &patterns) {
  patterns.add<ReduceLowering<top::ReduceSumOp>, ReduceLowering<top::ReduceMeanOp>, ReduceLowering<top::ReduceMaxOp>,
               ReduceLowering<top::ReduceMinOp>>(patterns.getContext());
}

} // namespace pto_mlir::top_to_linalg
