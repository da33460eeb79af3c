//===- MergeRows.cpp - one number of rows for all ops of a kernel ---------===//

#include "../Sizes/SizeAnalysis.h"
#include "Phases.h"
#include "pto_mlir/Dialect/PTO/IR/PTO.h"

#include <limits>

using namespace mlir;

namespace pto_mlir::vector_kernels {

static int64_t trips(linalg::LinalgOp op, ArrayRef<int64_t> loops) {
  int64_t extent = 1;
  for (int64_t loop : loops)
    extent *= op.getStaticLoopRanges()[loop];
  return extent;
}

void mergeRowsAlike(func::FuncOp func, ArrayRef<linalg::LinalgOp> ops,
                    MutableArrayRef<SmallVector<ReassociationIndices>> groupsOf) {
  if (!func->hasAttr(pto::kGreatestSizesAttr))
    return;
  kernels::SizeAnalysis analysis(func);
  for (Operation &op : func.getBody().front())
    if (failed(analysis.visit(&op)))
      return;
  auto rowsOf = [&](linalg::LinalgOp op, ArrayRef<ReassociationIndices> groups) {
    kernels::Sizes loops = analysis.ofLoops(op);
    return llvm::find_if(groups,
                         [&](const ReassociationIndices &group) {
                           return llvm::any_of(group,
                                               [&](int64_t loop) { return !isa<AffineConstantExpr>(loops[loop]); });
                         }) -
           groups.begin();
  };
  int64_t fewest = std::numeric_limits<int64_t>::max();
  for (auto [op, groups] : llvm::zip_equal(ops, groupsOf))
    if (size_t at = rowsOf(op, groups); at < groups.size())
      fewest = std::min(fewest, trips(op, groups[at]));
  for (auto [op, groups] : llvm::zip_equal(ops, groupsOf)) {
    size_t at = rowsOf(op, groups);
    if (at == groups.size())
      continue;
    ArrayRef<int64_t> rows = groups[at];
    size_t kept = 0;
    while (kept < rows.size() && trips(op, rows.take_front(kept)) < fewest)
      ++kept;
    if (kept == rows.size() || trips(op, rows.take_front(kept)) != fewest)
      continue;
    ReassociationIndices rest(rows.drop_front(kept));
    groups[at].truncate(kept);
    groups.insert(groups.begin() + at + 1, rest);
  }
}

/// Rows of the ops of a kernel, of the greatest size; nullopt where it has no op on a size.
static std::optional<int64_t> rowsOfOps(func::FuncOp func) {
  kernels::SizeAnalysis analysis(func);
  for (Operation &op : func.getBody().front()) {
    if (failed(analysis.visit(&op)))
      return std::nullopt;
    if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
      for (auto [size, extent] : llvm::zip_equal(analysis.ofLoops(linalgOp), linalgOp.getStaticLoopRanges()))
        if (!isa<AffineConstantExpr>(size))
          return extent;
  }
  return std::nullopt;
}

Value copyOfRows(OpBuilder &builder, Location loc, Value source, Value destination) {
  auto func = cast<func::FuncOp>(destination.getParentRegion()->getParentOp());
  std::optional<int64_t> rows;
  if (func->hasAttr(pto::kGreatestSizesAttr))
    rows = rowsOfOps(func);
  ArrayRef<int64_t> shape = cast<RankedTensorType>(source.getType()).getShape();
  int64_t count = 1;
  SmallVector<ReassociationIndices> groups(1);
  for (auto [dim, extent] : llvm::enumerate(shape)) {
    if (dim != 0 && rows && count >= *rows)
      groups.emplace_back();
    else
      count *= extent;
    groups.back().push_back(dim);
  }
  if (rows != count || groups.front().size() < 2)
    return createCopy(builder, loc, source, destination);
  auto merged = [&](Value value) { return builder.create<tensor::CollapseShapeOp>(loc, value, groups); };
  Value copied = createCopy(builder, loc, merged(source), merged(destination));
  return builder.create<tensor::ExpandShapeOp>(loc, destination.getType(), copied, groups);
}

} // namespace pto_mlir::vector_kernels
