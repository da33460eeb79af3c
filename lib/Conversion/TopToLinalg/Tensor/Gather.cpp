//===- Gather.cpp - gather of rows by an index tensor ------------------------===//

#include "../LinalgBuilders.h"
#include "../Patterns.h"
#include "pto_mlir/Dialect/Top/IR/Top.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace pto_mlir::top_to_linalg {
namespace {

// One generic over the result whose body loads from the data at a computed row: negative indices count from the end,
// and the row is clamped to the data.
struct GatherLowering : OpRewritePattern<top::GatherOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(top::GatherOp op, PatternRewriter &rewriter) const override {
    auto data = cast<RankedTensorType>(op.getData().getType());
    Location inner = innerLoc(op.getLoc());
    Value indices = op.getIndices();
    SmallVector<int64_t> rowShape = llvm::to_vector(cast<RankedTensorType>(indices.getType()).getShape());
    if (rowShape.empty()) {
      rowShape.push_back(1);
      indices = reshape(rewriter, inner, indices, rowShape);
    }
    int64_t axis = op.getAxis(), inserted = rowShape.size(), size = data.getDimSize(axis),
            rank = data.getRank() - 1 + inserted;
    SmallVector<int64_t> shape(data.getShape().take_front(axis));
    llvm::append_range(shape, rowShape);
    llvm::append_range(shape, data.getShape().drop_front(axis + 1));
    auto type = RankedTensorType::get(shape, data.getElementType());
    AffineMap whole = rewriter.getMultiDimIdentityMap(rank);
    AffineMap rows = whole.getSliceMap(axis, inserted);
    Value init = empty(rewriter, op.getLoc(), type.getShape(), type.getElementType());
    auto gather = rewriter.create<linalg::GenericOp>(
        op.getLoc(), type, indices, init, ArrayRef<AffineMap>{rows, whole},
        SmallVector<utils::IteratorType>(rank, utils::IteratorType::parallel),
        [&](OpBuilder &b, Location, ValueRange args) {
          // Compute in the type of the indices: the public assembler cannot lower arithmetic on a loaded value
          // converted to index.
          Value row = args[0];
          auto number = [&](int64_t value) {
            return b.create<arith::ConstantOp>(inner, b.getIntegerAttr(row.getType(), value));
          };
          Value negative = b.create<arith::CmpIOp>(inner, arith::CmpIPredicate::slt, row, number(0));
          Value wrapped = b.create<arith::AddIOp>(inner, row, number(size));
          row = b.create<arith::SelectOp>(inner, negative, wrapped, row);
          row = b.create<arith::MaxSIOp>(inner, row, number(0));
          row = b.create<arith::MinSIOp>(inner, row, number(size - 1));
          row = b.create<arith::IndexCastOp>(inner, b.getIndexType(), row);
          SmallVector<Value> place;
          for (int64_t dim = 0; dim < data.getRank(); ++dim)
            place.push_back(dim == axis
                                ? row
                                : b.create<linalg::IndexOp>(inner, dim < axis ? dim : dim + inserted - 1).getResult());
          Value element = b.create<tensor::ExtractOp>(inner, op.getData(), place);
          b.create<linalg::YieldOp>(inner, element);
        });
    gather->setAttr(top::kIndexBoundAttr, rewriter.getI64IntegerAttr(size));
    rewriter.replaceOp(op,
                       reshape(rewriter, inner, gather.getResult(0), cast<RankedTensorType>(op.getType()).getShape()));
    return success();
  }
};
} // namespace

void populateGather(RewritePatternSet &patterns) { patterns.add<GatherLowering>(patterns.getContext()); }

} // namespace pto_mlir::top_to_linalg
