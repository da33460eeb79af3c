//===- KernelCodegen.cpp - Kernels to command streams ---------------------===//

#include "pto_mlir/Backend/Codegen.h"

#include "Models.h"
#include "pto_mlir/ISA/Verify.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#define GET_OP_INTERFACE_CLASSES
#include "pto_mlir/Backend/CodegenOpInterface.cpp.inc"

using namespace mlir;

namespace pto_mlir::backend {

static constexpr llvm::StringLiteral kPipeAttr = "pto.pipe", kKindAttr = "pto.kernel_kind";

void registerCodegenInterfaces(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, arith::ArithDialect *) { attachScalarModels(context); });
  registry.addExtension(+[](MLIRContext *context, scf::SCFDialect *) { attachControlFlowModels(context); });
  registry.addExtension(+[](MLIRContext *context, pto::PTODialect *) {
    attachSystemModels(context);
    attachViewModels(context);
    attachTileModels(context);
    attachDataMovementModels(context);
    attachCubeModels(context);
    attachElementwiseModels(context);
    attachReductionModels(context);
    attachConvertModels(context);
  });
}

SmallVector<ModuleOp> slicedKernels(ModuleOp module) {
  SmallVector<ModuleOp> kernels;
  for (auto nested : module.getOps<ModuleOp>())
    if (nested->hasAttr(kKindAttr))
      kernels.push_back(nested);
  return kernels;
}

// A stream that the generator made must be legal; what is not is shown at the op that caused it.
static LogicalResult verify(const CodegenContext &context, const EngineStream &stream, func::FuncOp function, unsigned numArgs) {
  auto error = isa::verifyStream(stream.core, stream.pipe, stream.words, context.processor.arch->arch, numArgs);
  if (!error)
    return success();
  Operation *op = context.opAt(stream.pipe, error->word);
  return (op ? op : function.getOperation())->emitError("is illegal on ") << context.processor.name << ": " << error->message;
}

FailureOr<KernelStreams> generateKernel(ModuleOp kernel, const Processor &processor, bool withText) {
  auto kind = kernel->getAttrOfType<pto::KernelKindAttr>(kKindAttr);
  if (!kind)
    return kernel.emitError("expects a sliced kernel: a module with attribute '") << kKindAttr << "'";
  KernelStreams result;
  result.name = kernel.getSymName().value_or("").str();
  isa::CoreKind core = kind.getValue() == pto::KernelKind::cube ? isa::CoreKind::AIC : isa::CoreKind::AIV;
  CodegenContext context(processor, core, withText);

  SmallVector<std::pair<isa::Pipe, func::FuncOp>> done;
  for (auto function : kernel.getOps<func::FuncOp>()) {
    auto attribute = function->getAttrOfType<pto::PipeAttr>(kPipeAttr);
    isa::Pipe pipe = attribute ? isa::Pipe(unsigned(attribute.getValue())) : isa::Pipe::ALL;
    if (!attribute || !isa::hasPipe(core, pipe))
      return function.emitError("expects attribute '") << kPipeAttr << "' with an engine of " << isa::kCoreKindNames[unsigned(core)];
    if (llvm::any_of(done, [&](auto &other) { return other.first == pipe; }))
      return function.emitError("is a second stream of engine ") << isa::pipeName(pipe);
    unsigned pointers = llvm::count_if(function.getArgumentTypes(), [](Type type) { return llvm::isa<pto::PtrType>(type); });
    if (!done.empty() && pointers != result.numArgs)
      return function.emitError("has ") << pointers << " pointer arguments, other engines of the kernel have " << result.numArgs;
    result.numArgs = pointers;
    if (failed(context.generateStream(function, pipe)))
      return failure();
    done.push_back({pipe, function});
  }

  context.finish();
  for (auto [pipe, function] : done) {
    EngineStream stream{core, pipe, context.words(pipe), context.numCommands(pipe), context.text(pipe)};
    if (failed(verify(context, stream, function, result.numArgs)))
      return failure();
    result.streams.push_back(std::move(stream));
  }
  for (auto [memory, bytes] : llvm::enumerate(context.memoryUse()))
    if (bytes)
      result.localMemory.push_back({isa::Memory(memory), uint32_t(bytes)});
  result.numEvents = unsigned(context.numEvents());
  return result;
}

} // namespace pto_mlir::backend
