//===- KernelCodegen.cpp - Kernels to command streams ---------------------===//

#include "pto_mlir/Backend/Codegen.h"

#include "Models.h"
#include "pto_mlir/ISA/Verify.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Path.h"

#define GET_OP_INTERFACE_CLASSES
#include "pto_mlir/Backend/CodegenOpInterface.cpp.inc"

using namespace mlir;

namespace pto_mlir::backend {

void registerCodegenInterfaces(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, arith::ArithDialect *) {
    attachScalarModels(context);
    attachFloatScalarModels(context);
    attachUnsignedModels(context);
  });
  registry.addExtension(+[](MLIRContext *context, scf::SCFDialect *) {
    attachControlFlowModels(context);
    attachWhileModel(context);
  });
  registry.addExtension(+[](MLIRContext *context, ub::UBDialect *) { attachPoisonModel(context); });
  registry.addExtension(+[](MLIRContext *context, pto::PTODialect *) {
    attachInsnModels(context);
    attachSystemModels(context);
    attachViewModels(context);
    attachTileModels(context);
    attachDataMovementModels(context);
    attachScaledModels(context);
    attachElementwiseModels(context);
    attachConvertModels(context);
    attachGatherSortModels(context);
    attachColumnSumModel(context);
    attachElementAccessModels(context);
    attachQueueModels(context);
    attachEventArrayModels(context);
  });
}

SmallVector<ModuleOp> slicedKernels(ModuleOp module) {
  SmallVector<ModuleOp> kernels;
  for (auto nested : module.getOps<ModuleOp>())
    if (nested->hasAttr(pto::kKernelKindAttr))
      kernels.push_back(nested);
  return kernels;
}

// Generated streams must be legal; a violation is reported at the op that the command comes from.
static LogicalResult verify(const CodegenContext &context, const EngineStream &stream, func::FuncOp function,
                            unsigned numArgs) {
  auto error = isa::verifyStream(stream.core, stream.pipe, stream.words, context.processor.arch->arch, numArgs);
  if (!error)
    return success();
  Operation *op = context.opAt(stream.pipe, error->word);
  return (op ? op : function.getOperation())->emitError("is illegal on ")
         << context.processor.name << ": " << error->message;
}

/// Where an op comes from: a place in a file, the tensor that it computes, or nothing.
static std::string placeOf(Location loc) {
  if (auto file = dyn_cast<FileLineColLoc>(loc))
    return " at " + llvm::sys::path::filename(file.getFilename().getValue()).str() + ":" +
           std::to_string(file.getLine()) + ":" + std::to_string(file.getColumn());
  if (auto name = dyn_cast<NameLoc>(loc))
    return " of '" + name.getName().str() + "'";
  if (auto call = dyn_cast<CallSiteLoc>(loc)) {
    std::string callee = placeOf(call.getCallee()), caller = placeOf(call.getCaller());
    return callee.empty() || caller.empty() ? callee + caller : callee + ", called" + caller;
  }
  if (auto fused = dyn_cast<FusedLoc>(loc))
    for (Location part : fused.getLocations())
      if (std::string place = placeOf(part); !place.empty())
        return place;
  return "";
}

/// Says for each command which op it is of, one entry per run of equal ones.
static void noteSources(ArrayRef<std::pair<size_t, Operation *>> ops, EngineStream &stream, KernelStreams &kernel,
                        llvm::StringMap<uint32_t> &known) {
  for (auto [word, op] : ops) {
    std::string place = op ? placeOf(op->getLoc()) : "";
    std::string text = place.empty() ? "" : op->getName().getStringRef().str() + place;
    auto [entry, isNew] = known.insert({text, uint32_t(kernel.sources.size())});
    if (isNew)
      kernel.sources.push_back(text);
    if (stream.sources.empty() || stream.sources.back().second != entry->second)
      stream.sources.push_back({uint32_t(word), entry->second});
  }
}

FailureOr<KernelStreams> generateKernel(ModuleOp kernel, const Processor &processor, CodegenOptions options) {
  auto kind = kernel->getAttrOfType<pto::KernelKindAttr>(pto::kKernelKindAttr);
  if (!kind)
    return kernel.emitError("expects a sliced kernel: a module with attribute '") << pto::kKernelKindAttr << "'";
  KernelStreams result;
  result.name = kernel.getSymName().value_or("").str();
  isa::CoreKind core = kind.getValue() == pto::KernelKind::cube ? isa::CoreKind::AIC : isa::CoreKind::AIV;
  CodegenContext context(processor, core, options.text);

  SmallVector<std::pair<isa::Pipe, func::FuncOp>> done;
  for (auto function : kernel.getOps<func::FuncOp>()) {
    auto attribute = function->getAttrOfType<pto::PipeAttr>(pto::kPipeAttr);
    isa::Pipe pipe = attribute ? isa::Pipe(unsigned(attribute.getValue())) : isa::Pipe::ALL;
    if (!attribute || !isa::hasPipe(*processor.arch, core, pipe))
      return function.emitError("expects attribute '")
             << pto::kPipeAttr << "' with an engine of " << isa::kCoreKindNames[unsigned(core)] << " on "
             << processor.name;
    if (llvm::any_of(done, [&](auto &other) { return other.first == pipe; }))
      return function.emitError("is a second stream of engine ") << isa::pipeName(pipe);
    unsigned pointers =
        llvm::count_if(function.getArgumentTypes(), [](Type type) { return llvm::isa<pto::PtrType>(type); });
    if (!done.empty() && pointers != result.numArgs)
      return function.emitError("has ") << pointers << " pointer arguments, other engines of the kernel have "
                                        << result.numArgs;
    result.numArgs = pointers;
    result.numScalars = function.getNumArguments() - pointers;
    if (failed(context.generateStream(function, pipe)))
      return failure();
    done.push_back({pipe, function});
  }

  context.finish();
  llvm::StringMap<uint32_t> knownSources;
  for (auto [pipe, function] : done) {
    EngineStream stream{core, pipe, context.words(pipe), context.numCommands(pipe), context.text(pipe), {}};
    if (options.sources)
      noteSources(context.opsOf(pipe), stream, result, knownSources);
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
