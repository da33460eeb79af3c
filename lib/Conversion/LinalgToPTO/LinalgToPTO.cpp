//===- LinalgToPTO.cpp - instruction selection for vector kernels ---------===//

#include "AffineToArith.h"
#include "BodyEmitter.h"
#include "Distribute.h"
#include "GlobalViews.h"
#include "LocalTiles.h"
#include "VectorKernel.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Transforms/CSE.h"
#include "pto_mlir/Conversion/LinalgToPTO/Passes.h"
#include "pto_mlir/Dialect/PTO/Transforms/KernelSize.h"

#define DEBUG_TYPE "convert-linalg-to-pto"
#include "pto_mlir/Dialect/DebugLog.h"

using namespace mlir;

namespace pto_mlir {
#define GEN_PASS_DEF_CONVERTLINALGTOPTO
#include "pto_mlir/Conversion/LinalgToPTO/Passes.h.inc"

namespace {

class KernelConverter {
public:
  KernelConverter(func::FuncOp func, int64_t numBlocks) : func(func), tiles(func), numBlocks(numBlocks) {}

  LogicalResult run();

private:
  LogicalResult convertCopy(memref::CopyOp op);
  LogicalResult convertLoad(memref::LoadOp op);
  LogicalResult convertOps();
  void addPointers();
  void eraseMemrefs();

  func::FuncOp func;
  LocalTiles tiles;
  int64_t numBlocks;
  llvm::DenseMap<Value, Value> pointers;
};

/// Adds one pointer argument per memref argument, before the memrefs that they will replace.
void KernelConverter::addPointers() {
  Block &entry = func.getBody().front();
  unsigned count = entry.getNumArguments();
  for (unsigned i = 0; i < count; ++i) {
    BlockArgument argument = entry.getArgument(i);
    Type element = cast<MemRefType>(argument.getType()).getElementType();
    pointers[argument] = entry.addArgument(pto::PtrType::get(element), argument.getLoc());
  }
}

LogicalResult KernelConverter::convertCopy(memref::CopyOp op) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  Value source = op.getSource(), target = op.getTarget();
  if (isLocal(source) && isLocal(target)) {
    FailureOr<Value> from = tiles.get(source), to = tiles.get(target);
    if (failed(from) || failed(to))
      return failure();
    if (*from != *to) // copy back a slice computed in place
      builder.create<pto::TMovOp>(loc, *from, *to);
    return success();
  }
  // A slice computed in place and copied to itself: nothing to do.
  if (source == target)
    return success();
  if (!isLocal(source) && !isLocal(target))
    return op.emitOpError("copies from global to global memory; it was not staged");
  bool loads = isLocal(target);
  FailureOr<Value> tile = tiles.get(loads ? target : source);
  if (failed(tile))
    return failure();
  FailureOr<GlobalView> view = traceGlobal(builder, loads ? source : target);
  if (failed(view))
    return failure();
  bool asColumn = !cast<pto::TileBufType>(tile->getType()).isRowMajor();
  FailureOr<Value> part = makePartition(builder, loc, *view, pointers.lookup(view->argument), asColumn);
  if (failed(part))
    return failure();
  if (loads)
    builder.create<pto::TLoadOp>(loc, *part, *tile);
  else
    builder.create<pto::TStoreOp>(loc, *tile, *part);
  return success();
}

/// Converts a scalar load from global memory (the index of a row) to a read by engine S.
LogicalResult KernelConverter::convertLoad(memref::LoadOp op) {
  if (isLocal(op.getMemRef()))
    return op.emitOpError("reads a single element of a tile");
  OpBuilder builder(op);
  Location loc = op.getLoc();
  FailureOr<GlobalView> view = traceGlobal(builder, op.getMemRef());
  if (failed(view))
    return failure();
  OpFoldResult offset = view->offset;
  AffineExpr a = builder.getAffineDimExpr(0), b = builder.getAffineDimExpr(1), s = builder.getAffineSymbolExpr(0);
  for (auto [index, stride] : llvm::zip_equal(op.getIndices(), view->strides)) {
    std::optional<int64_t> step = getConstantIntValue(stride);
    offset = step ? affine::makeComposedFoldedAffineApply(builder, loc, a + b * *step, {offset, index})
                  : affine::makeComposedFoldedAffineApply(builder, loc, a + b * s, {offset, index, stride});
  }
  Value position = getValueOrCreateConstantIndexOp(builder, loc, offset);
  auto load = builder.create<pto::LoadScalarOp>(loc, op.getType(), pointers.lookup(view->argument), position);
  op.replaceAllUsesWith(load.getValue());
  return success();
}

LogicalResult KernelConverter::convertOps() {
  // Create sub-tiles at their views, so that they dominate all reads.
  WalkResult result = func.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto copy = dyn_cast<memref::CopyOp>(op))
      return failed(convertCopy(copy)) ? WalkResult::interrupt() : WalkResult::advance();
    if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
      return failed(emitBody(linalgOp, tiles)) ? WalkResult::interrupt() : WalkResult::skip();
    if (auto load = dyn_cast<memref::LoadOp>(op))
      return failed(convertLoad(load)) ? WalkResult::interrupt() : WalkResult::advance();
    if (isa<memref::DimOp, memref::StoreOp>(op) || isa<bufferization::BufferizationDialect>(op->getDialect()))
      return op->emitOpError("has no counterpart on tiles"), WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

void KernelConverter::eraseMemrefs() {
  SmallVector<Operation *> dead;
  func.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<linalg::LinalgOp>(op) || isa<memref::MemRefDialect>(op->getDialect())) {
      dead.push_back(op);
      return WalkResult::skip();
    }
    return WalkResult::advance();
  });
  for (Operation *op : llvm::reverse(dead)) {
    op->dropAllUses();
    op->erase();
  }
  Block &entry = func.getBody().front();
  entry.eraseArguments(0, entry.getNumArguments() / 2);
  func.setType(FunctionType::get(func.getContext(), entry.getArgumentTypes(), {}));
  func.setAllArgAttrs(ArrayRef<DictionaryAttr>());
}

LogicalResult KernelConverter::run() {
  if (failed(tiles.build()))
    return failure();
  addPointers();
  if (failed(convertOps()))
    return failure();
  eraseMemrefs();
  auto greatest = func->getAttrOfType<IntegerAttr>(pto::kGreatestRowsAttr);
  pto::takeKernelSizes(func);
  lowerAffineOps(func);
  distributeKernel(func, numBlocks, greatest ? std::optional(greatest.getInt()) : std::nullopt);
  return success();
}

struct ConvertLinalgToPTO : impl::ConvertLinalgToPTOBase<ConvertLinalgToPTO> {
  using ConvertLinalgToPTOBase::ConvertLinalgToPTOBase;

  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet owned(context);
    for (RegisteredOperationName op : context->getRegisteredOperations())
      if (llvm::is_contained({"arith", "scf", "pto"}, op.getDialectNamespace()))
        op.getCanonicalizationPatterns(owned, context);
    patterns = FrozenRewritePatternSet(std::move(owned));
    return success();
  }

  void runOnOperation() override {
    bool good = true;
    for (auto func : getOperation().getOps<func::FuncOp>()) {
      if (isVectorKernelOn<RankedTensorType>(func)) {
        func.emitOpError("is a kernel on tensors: run bufferize-vector-kernels first");
        return signalPassFailure();
      }
      if (!isVectorKernelOn<MemRefType>(func))
        continue;
      PTO_DEBUG("@" << func.getName());
      if (failed(KernelConverter(func, numCores).run()) || failed(applyPatternsAndFoldGreedily(func, patterns))) {
        good = false;
        continue;
      }
      IRRewriter rewriter(func.getContext());
      DominanceInfo dominance(func);
      eliminateCommonSubExpressions(rewriter, dominance, func);
    }
    if (!good)
      signalPassFailure();
  }

  FrozenRewritePatternSet patterns;
};

} // namespace
} // namespace pto_mlir
