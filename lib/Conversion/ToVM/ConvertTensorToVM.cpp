// convert-tensor-to-vm.
#include "Calls.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "pto_mlir/Conversion/ToVM/Passes.h"

#include "llvm/ADT/TypeSwitch.h"

#define DEBUG_TYPE "convert-tensor-to-vm"
#include "pto_mlir/Dialect/DebugLog.h"

using namespace mlir;

namespace pto_mlir {
#define GEN_PASS_DEF_CONVERTTENSORTOVM
#include "pto_mlir/Conversion/ToVM/Passes.h.inc"

namespace {

Value indexConstant(RewriterBase &rewriter, Location loc, int64_t value) {
  return makeConstant(rewriter, loc, rewriter.getIndexAttr(value));
}

/// The dynamic extents of a collapsed tensor: products of the source's extents in each group.
SmallVector<Value> collapsedExtents(tensor::CollapseShapeOp op, RewriterBase &rewriter) {
  SmallVector<Value> extents;
  for (auto [d, group] : llvm::enumerate(op.getReassociationIndices())) {
    if (!op.getResultType().isDynamicDim(d))
      continue;
    Value product;
    for (int64_t s : group) {
      Value size = rewriter.create<vm::DimOp>(op.getLoc(), rewriter.getIndexType(), op.getSrc(), s);
      product = product
                    ? Value(rewriter.create<vm::BinaryOp>(op.getLoc(), rewriter.getIndexType(), "imul", product, size))
                    : size;
    }
    extents.push_back(product);
  }
  return extents;
}

void convertTensorOp(Operation *op, RewriterBase &rewriter) {
  Location loc = op->getLoc();
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](tensor::EmptyOp empty) {
        rewriter.replaceOpWithNewOp<vm::NewOp>(op, empty.getType(), empty.getDynamicSizes());
      })
      .Case([&](tensor::DimOp dim) {
        // There is no instruction for a dynamic dimension index.
        if (auto index = dim.getConstantIndex(); index && isa<RankedTensorType>(dim.getSource().getType()))
          rewriter.replaceOpWithNewOp<vm::DimOp>(op, dim.getType(), dim.getSource(), *index);
      })
      .Case([&](tensor::ExtractOp extract) {
        if (isVMNumber(extract.getType()))
          rewriter.replaceOpWithNewOp<vm::LoadOp>(op, extract.getType(), extract.getTensor(), extract.getIndices());
      })
      .Case([&](tensor::FromElementsOp from) {
        auto type = from.getType();
        if (!isVMNumber(type.getElementType()))
          return;
        Value target = rewriter.create<vm::NewOp>(loc, type, ValueRange());
        SmallVector<int64_t> index(type.getRank(), 0);
        for (Value element : from.getElements()) {
          SmallVector<Value> indices;
          for (int64_t i : index)
            indices.push_back(indexConstant(rewriter, loc, i));
          rewriter.create<vm::StoreOp>(loc, element, target, indices);
          for (int64_t d = type.getRank(); d-- > 0;) {
            if (++index[d] < type.getDimSize(d))
              break;
            index[d] = 0;
          }
        }
        rewriter.replaceOp(op, target);
      })
      .Case([&](tensor::CastOp cast) {
        if (isa<RankedTensorType>(cast.getSource().getType()) && isa<RankedTensorType>(cast.getType()))
          rewriter.replaceOpWithNewOp<vm::CastOp>(op, cast.getType(), cast.getSource());
      })
      .Case([&](tensor::CollapseShapeOp collapse) {
        rewriter.replaceOpWithNewOp<vm::ReshapeOp>(op, collapse.getResultType(), collapse.getSrc(),
                                                   collapsedExtents(collapse, rewriter));
      })
      .Case([&](tensor::ExpandShapeOp expand) {
        rewriter.replaceOpWithNewOp<vm::ReshapeOp>(op, expand.getResultType(), expand.getSrc(),
                                                   expand.getOutputShape());
      })
      .Case<tensor::InsertOp, tensor::ExtractSliceOp, tensor::InsertSliceOp, tensor::ConcatOp, tensor::SplatOp>(
          [&](auto) { (void)replaceWithCall(rewriter, op, "device", {"operandSegmentSizes"}); });
}

struct ConvertTensorToVM : impl::ConvertTensorToVMBase<ConvertTensorToVM> {
  void getDependentDialects(DialectRegistry &registry) const override { vm::registerProgramOps(registry); }
  void runOnOperation() override {
    forEachOp(getOperation(), "tensor", [](Operation *op, RewriterBase &rewriter) {
      PTO_DEBUG(op->getName() << " at " << op->getLoc());
      convertTensorOp(op, rewriter);
    });
  }
};

} // namespace
} // namespace pto_mlir
