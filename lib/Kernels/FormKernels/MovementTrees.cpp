//===- MovementTrees.cpp - slices, pads and concatenations in one kernel --===//

#include "MovementTrees.h"

#include "OpRole.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "pto_mlir/Dialect/Top/IR/Names.h"
#include "pto_mlir/Dialect/Top/IR/Top.h"

using namespace mlir;

namespace pto_mlir::kernels {
namespace {

// Copies of one kernel: each has addresses and sizes of its own.
constexpr size_t kMostPieces = 16;

/// A slice whose place and size are constants.
struct Box {
  SmallVector<int64_t> offsets, sizes, strides;
};

std::optional<Box> boxOf(tensor::ExtractSliceOp slice) {
  if (!slice.getSourceType().hasStaticShape() || slice.getSourceType().getRank() != slice.getType().getRank() ||
      ShapedType::isDynamicShape(slice.getStaticOffsets()) || ShapedType::isDynamicShape(slice.getStaticSizes()) ||
      ShapedType::isDynamicShape(slice.getStaticStrides()))
    return std::nullopt;
  return Box{llvm::to_vector(slice.getStaticOffsets()), llvm::to_vector(slice.getStaticSizes()),
             llvm::to_vector(slice.getStaticStrides())};
}

/// The part of `source` in `box`; of the source of a slice, if it is one.
Value cut(OpBuilder &b, Location loc, Value source, Box box) {
  if (auto outer = source.getDefiningOp<tensor::ExtractSliceOp>())
    if (std::optional<Box> first = boxOf(outer)) {
      for (auto [offset, stride, o, s] : llvm::zip_equal(box.offsets, box.strides, first->offsets, first->strides)) {
        offset = o + offset * s;
        stride *= s;
      }
      source = outer.getSource();
    }
  auto type = cast<RankedTensorType>(source.getType());
  bool whole = type.getShape() == ArrayRef(box.sizes);
  return whole ? source
               : b.create<tensor::ExtractSliceOp>(loc, source, getAsIndexOpFoldResult(b.getContext(), box.offsets),
                                                  getAsIndexOpFoldResult(b.getContext(), box.sizes),
                                                  getAsIndexOpFoldResult(b.getContext(), box.strides))
                     .getResult();
}

/// Whether concatenations alone read `value`, maybe through slices.
bool isOnlyConcatenated(Value value, bool throughSlices) {
  return !value.use_empty() && llvm::all_of(value.getUsers(), [&](Operation *user) {
    auto slice = dyn_cast<tensor::ExtractSliceOp>(user);
    return isa<tensor::ConcatOp>(user) || (throughSlices && slice && boxOf(slice) && isOnlyConcatenated(slice, false));
  });
}

bool inSizedNet(Operation *op) { return op->getParentOfType<func::FuncOp>()->hasAttr(top::kSymbolsAttr); }

struct SliceOfConcat : OpRewritePattern<tensor::ExtractSliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::ExtractSliceOp slice, PatternRewriter &rewriter) const override {
    auto concat = slice.getSource().getDefiningOp<tensor::ConcatOp>();
    std::optional<Box> box = boxOf(slice);
    if (!concat || !box || inSizedNet(slice) || !isOnlyConcatenated(concat, /*throughSlices=*/true))
      return rewriter.notifyMatchFailure(slice, "cuts nothing that is concatenated again");
    uint64_t dim = concat.getDim();
    if (box->strides[dim] != 1)
      return rewriter.notifyMatchFailure(slice, "skips along the concatenation");
    Location unnamed = rewriter.getUnknownLoc();
    SmallVector<Value> pieces;
    int64_t begin = box->offsets[dim], end = begin + box->sizes[dim], at = 0;
    for (Value input : concat.getInputs()) {
      int64_t size = cast<RankedTensorType>(input.getType()).getDimSize(dim);
      int64_t first = std::max(begin, at), last = std::min(end, at + size);
      if (first < last) {
        Box part = *box;
        part.offsets[dim] = first - at;
        part.sizes[dim] = last - first;
        pieces.push_back(cut(rewriter, unnamed, input, part));
      }
      at += size;
    }
    if (pieces.size() == 1)
      rewriter.replaceOp(slice, pieces);
    else
      rewriter.replaceOpWithNewOp<tensor::ConcatOp>(slice, dim, pieces);
    return success();
  }
};

std::optional<std::pair<SmallVector<int64_t>, SmallVector<int64_t>>> widthsOf(tensor::PadOp pad) {
  SmallVector<int64_t> low(pad.getStaticLow()), high(pad.getStaticHigh());
  auto isWidth = [](int64_t width) { return width >= 0; }; // kDynamic is negative
  Value value = pad.getConstantPaddingValue();
  if (!value || !llvm::all_of(low, isWidth) || !llvm::all_of(high, isWidth) || !pad.getSourceType().hasStaticShape() ||
      !pad.getType().hasStaticShape())
    return std::nullopt;
  return std::pair(low, high);
}

struct SliceOfPad : OpRewritePattern<tensor::ExtractSliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::ExtractSliceOp slice, PatternRewriter &rewriter) const override {
    auto pad = slice.getSource().getDefiningOp<tensor::PadOp>();
    std::optional<Box> box = boxOf(slice);
    auto widths = pad ? widthsOf(pad) : std::nullopt;
    if (!widths || !box || !slice.hasUnitStride() || inSizedNet(slice) ||
        !isOnlyConcatenated(pad, /*throughSlices=*/true))
      return rewriter.notifyMatchFailure(slice, "cuts nothing that is concatenated");
    auto [low, high] = *widths;
    for (auto [dim, size] : llvm::enumerate(pad.getSourceType().getShape())) {
      int64_t begin = box->offsets[dim] - low[dim], end = begin + box->sizes[dim];
      low[dim] = std::max<int64_t>(-begin, 0);
      high[dim] = std::max<int64_t>(end - size, 0);
      box->offsets[dim] = std::max<int64_t>(begin, 0);
      box->sizes[dim] = std::min(end, size) - box->offsets[dim];
      if (box->sizes[dim] <= 0)
        return rewriter.notifyMatchFailure(slice, "is of the border alone");
    }
    Value inner = cut(rewriter, rewriter.getUnknownLoc(), pad.getSource(), *box);
    if (inner.getType() == slice.getType()) {
      rewriter.replaceOp(slice, inner);
      return success();
    }
    Value value = pad.getConstantPaddingValue();
    if (auto constant = value.getDefiningOp<arith::ConstantOp>()) // may lie in the region of the pad
      value = rewriter.create<arith::ConstantOp>(slice.getLoc(), constant.getValue());
    rewriter.replaceOpWithNewOp<tensor::PadOp>(slice, slice.getType(), inner,
                                               getAsIndexOpFoldResult(rewriter.getContext(), low),
                                               getAsIndexOpFoldResult(rewriter.getContext(), high), value);
    return success();
  }
};

} // namespace

void populateSinkSlices(RewritePatternSet &patterns) { patterns.add<SliceOfConcat, SliceOfPad>(patterns.getContext()); }

SmallVector<Operation *> movementTree(Operation *root) {
  if (!isa<tensor::ConcatOp, tensor::PadOp>(root) || inSizedNet(root))
    return {};
  SmallVector<Operation *> tree, stack{root};
  size_t pieces = 0;
  while (!stack.empty()) {
    Operation *op = stack.pop_back_val();
    auto sources = isa<tensor::ConcatOp>(op) ? op->getOperands() : op->getOperands().take_front(1);
    for (Value source : sources) {
      Operation *producer = source.getDefiningOp();
      auto slice = dyn_cast_or_null<tensor::ExtractSliceOp>(producer);
      auto pad = dyn_cast_or_null<tensor::PadOp>(producer);
      bool part = slice ? boxOf(slice).has_value()
                        : producer && producer->hasOneUse() && !isa<tensor::ExtractSliceOp>(op) &&
                              (pad ? widthsOf(pad).has_value() : isa<tensor::ConcatOp>(producer));
      if (!part || classify(producer) != OpRole::Movement) {
        ++pieces;
        continue;
      }
      tree.push_back(producer);
      stack.push_back(producer);
    }
  }
  return pieces <= kMostPieces ? tree : SmallVector<Operation *>();
}

} // namespace pto_mlir::kernels
