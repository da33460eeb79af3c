//===- BufferizeVectorKernels.cpp - One-Shot Bufferize, kernel by kernel --===//

#include "VectorKernel.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Bufferization/Transforms/FuncBufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotModuleBufferize.h"
#include "mlir/Dialect/Linalg/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/MemRef/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Transforms/CSE.h"
#include "pto_mlir/Conversion/LinalgToPTO/Passes.h"

#define DEBUG_TYPE "bufferize-vector-kernels"
#include "pto_mlir/Dialect/DebugLog.h"

using namespace mlir;

namespace pto_mlir {
#define GEN_PASS_DEF_BUFFERIZEVECTORKERNELS
#include "pto_mlir/Conversion/LinalgToPTO/Passes.h.inc"

namespace {

/// The argument that `value` is a view of, or null.
BlockArgument tracedArgument(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<memref::CastOp, memref::CollapseShapeOp, memref::ExpandShapeOp, memref::SubViewOp>(op))
      return nullptr;
    value = op->getOperand(0);
  }
  return cast<BlockArgument>(value);
}

/// Drops the results, which alias the output arguments.
LogicalResult dropResults(func::FuncOp func) {
  auto ret = cast<func::ReturnOp>(func.getBody().front().getTerminator());
  unsigned firstOutput = func.getNumArguments() - ret.getNumOperands();
  for (auto [i, value] : llvm::enumerate(ret.getOperands())) {
    BlockArgument argument = tracedArgument(value);
    if (!argument || argument.getArgNumber() != firstOutput + i)
      return func.emitOpError("result ") << i << " is not computed in its output argument";
  }
  ret->setOperands({});
  func.setType(FunctionType::get(func.getContext(), func.getArgumentTypes(), {}));
  return success();
}

struct BufferizeVectorKernels : impl::BufferizeVectorKernelsBase<BufferizeVectorKernels> {
  void getDependentDialects(DialectRegistry &registry) const override {
    BufferizeVectorKernelsBase::getDependentDialects(registry);
    arith::registerBufferizableOpInterfaceExternalModels(registry);
    bufferization::func_ext::registerBufferizableOpInterfaceExternalModels(registry);
    linalg::registerBufferizableOpInterfaceExternalModels(registry);
    scf::registerBufferizableOpInterfaceExternalModels(registry);
    tensor::registerBufferizableOpInterfaceExternalModels(registry);
  }

  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet owned(context);
    for (StringRef name : {"affine", "arith", "memref", "scf"})
      if (Dialect *dialect = context->getLoadedDialect(name))
        dialect->getCanonicalizationPatterns(owned);
    for (RegisteredOperationName op : context->getRegisteredOperations())
      if (llvm::is_contained({"affine", "arith", "memref", "scf"}, op.getDialectNamespace()))
        op.getCanonicalizationPatterns(owned, context);
    memref::populateResolveRankedShapedTypeResultDimsPatterns(owned);
    patterns = FrozenRewritePatternSet(std::move(owned));
    return success();
  }

  LogicalResult bufferize(func::FuncOp func) {
    // Bufferization works on whole modules, so move the kernel to its own module.
    OwningOpRef<ModuleOp> module = ModuleOp::create(func.getLoc());
    Operation *next = func->getNextNode();
    Block *home = func->getBlock();
    func->remove();
    module->push_back(func);
    bufferization::OneShotBufferizationOptions options;
    options.bufferizeFunctionBoundaries = true;
    options.setFunctionBoundaryTypeConversion(bufferization::LayoutMapOption::IdentityLayoutMap);
    LogicalResult result = bufferization::runOneShotModuleBufferize(*module, options);
    func = *module->getOps<func::FuncOp>().begin();
    func->remove();
    home->getOperations().insert(next ? Block::iterator(next) : home->end(), func);
    // Loops still carry the memrefs that they write as iter_args; folding removes these.
    if (failed(result) || failed(applyPatternsAndFoldGreedily(func, patterns)) || failed(dropResults(func)) ||
        failed(applyPatternsAndFoldGreedily(func, patterns)))
      return failure();
    IRRewriter rewriter(func.getContext());
    DominanceInfo dominance(func);
    eliminateCommonSubExpressions(rewriter, dominance, func);
    return success();
  }

  void runOnOperation() override {
    auto kernels = llvm::to_vector(
        llvm::make_filter_range(getOperation().getOps<func::FuncOp>(), isVectorKernelOn<RankedTensorType>));
    PTO_DEBUG(kernels.size() << " kernels on tensors");
    for (func::FuncOp func : kernels)
      if (failed(bufferize(func)))
        return signalPassFailure();
  }

  FrozenRewritePatternSet patterns;
};
} // namespace
} // namespace pto_mlir
