//===- StridedView.cpp - where the elements of a view lie ------------------===//

#include "StridedView.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;

namespace pto_mlir::cube {

SmallVector<int64_t> staticShapeOf(Value value) {
  return llvm::to_vector(cast<RankedTensorType>(value.getType()).getShape());
}

bool isMovingView(Operation *op) {
  if (auto slice = dyn_cast_or_null<tensor::ExtractSliceOp>(op))
    return slice.hasUnitStride() && slice.getSourceType().hasStaticShape() &&
           slice.getType().getRank() == slice.getSourceType().getRank() &&
           !ShapedType::isDynamicShape(slice.getStaticOffsets()) && slice.getType().hasStaticShape();
  return isa_and_nonnull<linalg::TransposeOp>(op);
}

bool isView(Operation *op) {
  if (!isa_and_nonnull<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(op))
    return isMovingView(op);
  return cast<RankedTensorType>(op->getOperand(0).getType()).hasStaticShape() &&
         cast<RankedTensorType>(op->getResult(0).getType()).hasStaticShape();
}

/// Drops runs of one position; joins runs that follow each other.
static LevelList simplified(ArrayRef<Level> levels) {
  LevelList result;
  for (Level level : levels) {
    if (level.size == 1)
      continue;
    if (!result.empty() && result.back().stride == level.size * level.stride)
      result.back() = {result.back().size * level.size, level.stride};
    else
      result.push_back(level);
  }
  return result;
}

StridedView contiguous(ArrayRef<int64_t> shape) {
  StridedView view;
  int64_t stride = 1;
  for (int64_t size : llvm::reverse(shape)) {
    view.dims.insert(view.dims.begin(), simplified(Level{size, stride}));
    stride *= size;
  }
  return view;
}

/// Cuts the runs of one dimension into dimensions of the given sizes.
static std::optional<SmallVector<LevelList>> cut(LevelList levels, ArrayRef<int64_t> sizes) {
  SmallVector<LevelList> dims(sizes.size());
  for (int64_t dim = static_cast<int64_t>(sizes.size()) - 1; dim >= 0; --dim) {
    SmallVector<Level> taken;
    for (int64_t need = sizes[dim]; need > 1;) {
      if (levels.empty())
        return std::nullopt;
      Level &last = levels.back();
      int64_t size = std::min(need, last.size);
      if (need % size || last.size % size)
        return std::nullopt;
      taken.insert(taken.begin(), Level{size, last.stride});
      need /= size;
      last = {last.size / size, last.stride * size};
      if (last.size == 1)
        levels.pop_back();
    }
    dims[dim] = simplified(taken);
  }
  return dims;
}

static LevelList joined(ArrayRef<LevelList> dims) {
  SmallVector<Level> all;
  for (const LevelList &levels : dims)
    all.append(levels.begin(), levels.end());
  return simplified(all);
}

static StridedView collapse(const StridedView &view, ArrayRef<ReassociationIndices> groups) {
  StridedView result{view.offset, {}};
  for (const ReassociationIndices &group : groups)
    result.dims.push_back(joined(ArrayRef(view.dims).slice(group.front(), group.size())));
  return result;
}

static std::optional<StridedView> expand(const StridedView &view, ArrayRef<ReassociationIndices> groups,
                                         ArrayRef<int64_t> shape) {
  StridedView result{view.offset, {}};
  for (auto [levels, group] : llvm::zip_equal(view.dims, groups)) {
    auto dims = cut(levels, shape.slice(group.front(), group.size()));
    if (!dims)
      return std::nullopt;
    result.dims.append(dims->begin(), dims->end());
  }
  return result;
}

std::optional<StridedView> viewOfResult(Operation *op, const StridedView &source, ShapeOf shapeOf) {
  if (auto reshape = dyn_cast<tensor::CollapseShapeOp>(op))
    return collapse(source, reshape.getReassociationIndices());
  if (auto reshape = dyn_cast<tensor::ExpandShapeOp>(op)) {
    if (reshape.getReassociationIndices().empty())
      return std::nullopt;
    return expand(source, reshape.getReassociationIndices(), shapeOf(reshape.getResult()));
  }
  if (auto transpose = dyn_cast<linalg::TransposeOp>(op))
    return StridedView{source.offset, applyPermutation(source.dims, transpose.getPermutation())};
  auto slice = cast<tensor::ExtractSliceOp>(op);
  StridedView result = source;
  for (auto [dim, offset, size, whole] : llvm::zip_equal(result.dims, slice.getStaticOffsets(), slice.getStaticSizes(),
                                                         slice.getSourceType().getShape())) {
    if (size == whole)
      continue;
    // Part of a run within a run begins at different places.
    if (dim.size() != 1)
      return std::nullopt;
    result.offset += offset * dim.front().stride;
    dim = simplified(Level{size, dim.front().stride});
  }
  return result;
}

std::optional<StridedView> viewOfSource(Operation *op, const StridedView &result) {
  if (auto reshape = dyn_cast<tensor::ExpandShapeOp>(op)) {
    if (reshape.getReassociationIndices().empty())
      return std::nullopt;
    return collapse(result, reshape.getReassociationIndices());
  }
  if (auto reshape = dyn_cast<tensor::CollapseShapeOp>(op)) {
    if (reshape.getReassociationIndices().empty())
      return std::nullopt;
    return expand(result, reshape.getReassociationIndices(), staticShapeOf(reshape.getSrc()));
  }
  if (auto transpose = dyn_cast<linalg::TransposeOp>(op))
    return StridedView{result.offset,
                       applyPermutation(result.dims, invertPermutationVector(transpose.getPermutation()))};
  return std::nullopt;
}

std::optional<BlockMatrix> asBlocks(const StridedView &view, int64_t elements) {
  size_t rank = view.dims.size();
  if (rank != 2 && rank != 3)
    return std::nullopt;
  LevelList batch = rank == 3 ? view.dims[0] : LevelList();
  const LevelList &rows = view.dims[rank - 2], &cols = view.dims[rank - 1];
  if (batch.size() > 2 || rows.size() > 1 || cols.size() > 1 || (!cols.empty() && cols.front().stride != 1))
    return std::nullopt;
  BlockMatrix blocks;
  int64_t width = cols.empty() ? 1 : cols.front().size;
  blocks.pitch = !rows.empty() ? rows.front().stride : !batch.empty() ? batch.front().stride : elements;
  if (blocks.pitch < width || elements % blocks.pitch)
    return std::nullopt;
  blocks.firstRow = view.offset / blocks.pitch;
  blocks.firstCol = view.offset % blocks.pitch;
  int64_t end = blocks.firstCol + width;
  auto place = [&](const Level &level, int64_t &size, int64_t &rowStep, int64_t &colStep) {
    size = level.size;
    rowStep = level.stride / blocks.pitch;
    colStep = level.stride % blocks.pitch;
    end += (size - 1) * colStep;
  };
  if (!batch.empty())
    place(batch.front(), blocks.outer, blocks.outerRows, blocks.outerCols);
  if (batch.size() == 2)
    place(batch.back(), blocks.inner, blocks.innerRows, blocks.innerCols);
  // A block must not run over the end of a row.
  return end <= blocks.pitch ? std::optional(blocks) : std::nullopt;
}

} // namespace pto_mlir::cube
