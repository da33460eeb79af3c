// Hand-written .pto to planned .pto or to a .pmodel of kernels.
#include "pto_mlir/Pipelines/CompilePTO.h"
#include "pto_mlir/Pipelines/ModelBuilder.h"

#include "AddCode.h"
#include "Diagnostics.h"
#include "mlir/Conversion/ControlFlowToSCF/ControlFlowToSCF.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/Extensions/InlinerExtension.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Transforms/Passes.h"
#include "pto_mlir/Backend/Backend.h"
#include "pto_mlir/Backend/Codegen.h"
#include "pto_mlir/Backend/CodegenOpInterface.h"
#include "pto_mlir/Backend/HandwrittenCodegen.h"
#include "pto_mlir/Dialect/PTO/IR/ReadText.h"
#include "pto_mlir/Dialect/PTO/IR/Tiles.h"
#include "pto_mlir/Dialect/PTO/Program/Passes.h"
#include "pto_mlir/Dialect/PTO/Transforms/Passes.h"
#include "pto_mlir/PModel/Builder.h"
#include "pto_mlir/Support/Nesting.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;

namespace pto_mlir {
namespace {

void registerProgramDialects(DialectRegistry &registry) {
  registry
      .insert<affine::AffineDialect, arith::ArithDialect, cf::ControlFlowDialect, func::FuncDialect, math::MathDialect,
              memref::MemRefDialect, pto::PTODialect, scf::SCFDialect, tensor::TensorDialect, ub::UBDialect>();
  func::registerInlinerExtension(registry);
  pto::registerInliner(registry);
  backend::registerCodegenInterfaces(registry);
  backend::registerHandwrittenCodegen(registry);
}

/// Parses and verifies for the wanted architecture, which the module carries afterwards.
OwningOpRef<ModuleOp> parseProgram(const std::string &text, const ProgramOptions &options, const pto::Target &arch,
                                   MLIRContext &context) {
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer(text, options.input), SMLoc());
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sources, ParserConfig(&context, /*verifyAfterParse=*/false));
  if (!module)
    return nullptr;
  if (!options.processor.empty() || !(*module)->hasAttr(pto::kTargetArchAttr))
    (*module)->setAttr(pto::kTargetArchAttr, StringAttr::get(&context, arch.name));
  return failed(verify(*module)) ? nullptr : std::move(module);
}

/// A function that others call is no kernel unless it is marked as one; private, it vanishes once its calls are
/// inlined.
void hideHelpers(ModuleOp module) {
  module.walk([&](func::CallOp call) {
    auto callee = module.lookupSymbol<func::FuncOp>(call.getCallee());
    if (callee && !callee->hasAttr("pto.entry") && !callee->hasAttr("hacc.entry"))
      callee.setPrivate();
  });
}

/// What no stream can hold; said before the passes meet it.
LogicalResult checkControlFlow(ModuleOp module) {
  WalkResult result = module.walk([](Operation *op) -> WalkResult {
    for (Region &region : op->getRegions())
      if (!region.empty() && !region.hasOneBlock())
        return op->emitError("has branches that cannot be made scf.if and scf.while");
    if (llvm::isa<scf::ParallelOp>(op))
      return op->emitOpError("has no form in command streams; scf.for, scf.while and scf.if have");
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

std::optional<ProgramSummary> writeText(ModuleOp module, const std::string &path, Errors &errors) {
  std::string problem;
  std::unique_ptr<llvm::ToolOutputFile> file = openOutputFile(path, &problem);
  if (!file) {
    errors.push_back(problem);
    return std::nullopt;
  }
  module.print(file->os());
  file->os() << "\n";
  file->keep();
  ProgramSummary summary;
  module.walk([&](func::FuncOp func) { summary.kernels += !func.isExternal(); });
  return summary;
}

std::optional<ProgramSummary> writeKernels(ModuleOp module, const ProgramOptions &options,
                                           const backend::Processor &processor, Errors &errors) {
  auto kernels = generateKernels(module, processor, options.blocks, {/*text=*/false, /*sources=*/true});
  if (!kernels)
    return std::nullopt;
  if (kernels->empty()) {
    errors.push_back("has no kernel: a public function without results");
    return std::nullopt;
  }
  ProgramSummary summary;
  summary.kernels = kernels->size();
  for (const pmodel::KernelDesc &kernel : *kernels)
    summary.streams += kernel.streams.size();
  pmodel::ModelDesc model;
  model.producer = kProducer;
  model.processor = processor.name;
  model.numCore = options.blocks;
  model.kernels = std::move(*kernels);
  auto written = pmodel::writeModel(model, options.output);
  if (!written) {
    errors.push_back(written.error());
    return std::nullopt;
  }
  summary.commandBytes = written->commandBytes;
  return summary;
}

} // namespace

std::optional<ProgramSummary> compileProgram(const ProgramOptions &options, Errors &errors) {
  bool text = StringRef(options.output).ends_with(".pto") || StringRef(options.output).ends_with(".mlir");
  if (!text && !StringRef(options.output).ends_with(".pmodel")) {
    errors.push_back(options.output + ": expects an output named .pmodel or .pto");
    return std::nullopt;
  }
  std::string problem;
  std::unique_ptr<llvm::MemoryBuffer> input = openInputFile(options.input, &problem);
  if (!input) {
    errors.push_back(problem);
    return std::nullopt;
  }
  if (std::string problem = nestingProblem(input->getBuffer()); !problem.empty()) {
    errors.push_back(options.input + ": " + problem);
    return std::nullopt;
  }
  std::string source = options.seedText ? pto::acceptSeedText(input->getBuffer()) : input->getBuffer().str();
  const pto::Target &arch = options.processor.empty() ? pto::targetOfText(source) : pto::targetNamed(options.processor);

  DialectRegistry registry;
  registerProgramDialects(registry);
  pto::setParseFor(registry, arch);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.printOpOnDiagnostic(false);
  DiagnosticCollector collector(&context, errors);
  OwningOpRef<ModuleOp> module = parseProgram(source, options, arch, context);
  std::optional<ProgramSummary> summary;
  auto run = [&](auto add) {
    PassManager pm(&context);
    add(pm);
    return succeeded(pm.run(*module));
  };
  // Before a kernel is split: its parts agree about the tiles that one core writes into the other's memory.
  auto planTiles = [&](PassManager &pm) {
    if (options.level < 3)
      pm.addPass(pto::createPTOPlanLocalMemory({/*assemblerLimits=*/true}));
  };
  auto plan = [&](PassManager &pm) {
    pm.addPass(pto::createPTOPlaceReserved());
    if (!text)
      pm.addPass(pto::createPTOLowerPipes());
    if (options.insertSync)
      pm.addPass(pto::createPTOInsertSync());
  };
  bool good = module && run([&](PassManager &pm) {
                pm.addPass(pto::createPTOCheckLevel({options.level}));
                pm.addPass(pto::createPTOCheckQueues());
                pm.addPass(pto::createPTOLowerEvents());
                pm.addPass(pto::createPTOConvertMemRefs());
                pm.addPass(pto::createPTOInferLayout());
                pm.addPass(pto::createPTOSimplifyRegions());
                if (text) {
                  planTiles(pm);
                  plan(pm);
                }
              });
  if (good && text) {
    summary = writeText(*module, options.output, errors);
  } else if (good) {
    auto loaded = backend::Backend::instance().load(arch.name);
    if (!loaded.processor)
      errors.push_back(loaded.error);
    else if (run([&](PassManager &pm) {
               pm.addPass(pto::createPTODropSigns());
               pm.addPass(createLiftControlFlowToSCFPass());
               pm.addPass(pto::createPTOJoinCores({/*addressed=*/options.level == 3}));
             }) &&
             (hideHelpers(*module), true) && run([](PassManager &pm) {
               pm.addPass(createInlinerPass());
               pm.addPass(pto::createPTOSimplifyRegions());
             }) &&
             succeeded(checkControlFlow(*module)) && run([&](PassManager &pm) {
               pm.addPass(pto::createPTOBindScales());
               pm.addPass(createCanonicalizerPass());
               planTiles(pm);
               pm.addPass(pto::createPTOOrderCores());
               pm.addPass(pto::createPTOSplitCores());
               pm.addPass(createCanonicalizerPass());
               plan(pm);
               pm.addPass(pto::createPTOLowerBarriers());
               pm.addPass(pto::createPTOLowerCoreSync());
               pm.addPass(pto::createPTOSliceEngines());
             }))
      summary = writeKernels(*module, options, *loaded.processor, errors);
  }
  if (!summary) {
    if (errors.empty())
      errors.push_back("the compiler failed without a message");
    for (std::string &line : errors)
      if (line.find(options.input) == std::string::npos && line.find(options.output) == std::string::npos)
        line = options.input + ": " + line;
  }
  return summary;
}

} // namespace pto_mlir
