// The compiler as a library: import, pass pipelines, codegen, Builder.
#include "pto_mlir/Compiler/Compiler.h"

#include "ControlFlowModel.h"
#include "Diagnostics.h"
#include "EmitPTO.h"
#include "NumpyType.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "pto_mlir/Compiler/ModelBuilder.h"
#include "pto_mlir/Conversion/ControlToVM/Passes.h"
#include "pto_mlir/Dialect/PTO/IR/PTOTraits.h"
#include "pto_mlir/Dialect/PTO/Transforms/Passes.h"
#include "pto_mlir/Dialect/Top/IR/Top.h"
#include "pto_mlir/Dialect/Top/Transforms/ModuleIO.h"
#include "pto_mlir/Frontend/ONNX/Import.h"
#include "pto_mlir/Pipelines/Pipelines.h"
#include "pto_mlir/Pipelines/Registration.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;

namespace pto_mlir {
namespace {

/// Module attributes written by model_transform in addition to those of the importer.
constexpr llvm::StringLiteral kPreprocessAttr = "top.preprocess";

/// One context per call. Diagnostics are shown to users, so they do not print the IR.
struct CompilerContext : MLIRContext {
  CompilerContext() : MLIRContext(makeRegistry()) { printOpOnDiagnostic(false); }

private:
  static DialectRegistry makeRegistry() {
    DialectRegistry registry;
    registerDialects(registry);
    return registry;
  }
};

/// Runs the pipeline; adds an error message for a failure without a diagnostic.
bool run(PassManager &pm, ModuleOp module, Errors &errors) {
  if (succeeded(pm.run(module)))
    return true;
  if (errors.empty())
    errors.push_back("the compiler failed without a message");
  return false;
}

/// Writes the module after a stage to `<folder>/<number>-<stage>.mlir`.
struct DumpPass : PassWrapper<DumpPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(DumpPass)
  explicit DumpPass(std::string file) : file(std::move(file)) {}
  StringRef getName() const override { return "dump"; }
  void runOnOperation() override {
    std::error_code problem;
    llvm::ToolOutputFile output(file, problem, llvm::sys::fs::OF_None);
    if (problem) {
      getOperation().emitError() << file << ": " << problem.message();
      return signalPassFailure();
    }
    OpPrintingFlags flags;
    flags.elideLargeElementsAttrs();
    getOperation().print(output.os(), flags);
    output.keep();
  }
  std::string file;
};

/// Reads a top module and checks that it has a function @main with outputs.
OwningOpRef<ModuleOp> readNet(const std::string &file, MLIRContext &context, Errors &errors) {
  OwningOpRef<ModuleOp> module = top::readTopModule(file, context, errors);
  if (!module)
    return nullptr;
  auto main = module->lookupSymbol<func::FuncOp>("main");
  if (!main || main.isExternal() || main.getNumResults() == 0) {
    errors.push_back(file + ": expects a function @main with outputs, as model_transform writes it");
    return nullptr;
  }
  return module;
}

/// Prefixes each message with the file name given by the user.
void nameFile(const std::string &file, Errors &errors) {
  for (std::string &line : errors)
    if (line.find(file) == std::string::npos)
      line = file + ": " + line;
}

} // namespace

std::optional<TransformSummary> transformModel(const TransformOptions &options, Errors &errors) {
  CompilerContext context;
  onnx::ImportOptions import{options.inputShapes, options.outputNames, options.modelName, options.maxExtent,
                             options.sizes};
  OwningOpRef<ModuleOp> module = onnx::importONNX(options.modelFile, import, context, errors);
  if (!module)
    return std::nullopt;
  TransformSummary summary;
  if (auto nodes = (*module)->getAttrOfType<IntegerAttr>("top.onnx_nodes"))
    summary.nodes = nodes.getInt();
  (*module)->setAttr(kPreprocessAttr, StringAttr::get(&context, options.preprocess));

  DiagnosticCollector collector(&context, errors);
  PassManager pm(&context);
  buildTransformPipeline(pm);
  if (!run(pm, *module, errors)) {
    nameFile(options.modelFile, errors);
    return std::nullopt;
  }
  top::WeightStore &store = context.getLoadedDialect<top::TopDialect>()->weights();
  llvm::StringSet<> seen;
  module->walk([&](Operation *op) {
    if (auto weight = dyn_cast<top::WeightOp>(op)) {
      if (seen.insert(weight.getName()).second)
        if (const top::Weight *entry = store.lookup(weight.getName()))
          summary.weightBytes += entry->bytes.size();
    } else if (isa<top::TopDialect>(op->getDialect())) {
      ++summary.ops;
    }
  });
  std::string problem;
  if (failed(top::writeTopModule(*module, options.mlirFile, problem))) {
    errors.push_back(problem);
    return std::nullopt;
  }
  return summary;
}

static std::vector<NetOp> describeGraph(func::FuncOp main) {
  std::vector<NetOp> graph;
  main.walk<WalkOrder::PreOrder>([&](Operation *op) {
    StringRef name = top::getTensorName(op->getLoc());
    if (op->getNumResults() == 0 || op->getNumOperands() == 0 || name.empty())
      return;
    NetOp &entry = graph.emplace_back(NetOp{name.str(), op->getName().stripDialect().str(), {}});
    for (Value operand : op->getOperands()) {
      Operation *producer = operand.getDefiningOp();
      StringRef input = top::getTensorName(operand);
      if ((!producer || producer->getNumOperands() != 0) && !input.empty())
        entry.inputs.push_back(input.str());
    }
  });
  return graph;
}

std::optional<NetDescription> describeModel(const std::string &mlirFile, Errors &errors) {
  CompilerContext context;
  OwningOpRef<ModuleOp> module = readNet(mlirFile, context, errors);
  if (!module)
    return std::nullopt;
  auto main = module->lookupSymbol<func::FuncOp>("main");
  NetDescription net;
  auto describe = [&](std::vector<NetTensor> &list, StringAttr name, Type type) {
    auto tensor = cast<RankedTensorType>(type);
    auto numpy = numpyType(tensor.getElementType());
    if (!numpy) {
      errors.push_back(mlirFile + ": " + name.str() + " has an element type that numpy lacks");
      return;
    }
    list.push_back({name.str(), tensor.getShape().vec(), *numpy});
  };
  auto empty = StringAttr::get(&context, "");
  for (auto [i, type] : llvm::enumerate(main.getArgumentTypes())) {
    auto name = main.getArgAttrOfType<StringAttr>(i, top::kNameAttr);
    describe(net.inputs, name ? name : empty, type);
  }
  for (auto [i, type] : llvm::enumerate(main.getResultTypes())) {
    auto name = main.getResultAttrOfType<StringAttr>(i, top::kNameAttr);
    describe(net.outputs, name ? name : empty, type);
  }
  net.graph = describeGraph(main);
  if (auto absorbed = (*module)->getAttrOfType<ArrayAttr>(top::kAbsorbedAttr))
    for (StringRef name : absorbed.getAsValueRange<StringAttr>())
      net.absorbed.push_back(name.str());
  if (auto preprocess = (*module)->getAttrOfType<StringAttr>(kPreprocessAttr))
    net.preprocess = preprocess.str();
  if (!errors.empty())
    return std::nullopt;
  return net;
}

/// Compiles one net without control flow.
static std::optional<BuiltModel> deployNet(ModuleOp module, const DeployOptions &options, Errors &errors) {
  // The target, read by the passes through pto::targetOf.
  module->setAttr(pto::kTargetArchAttr, StringAttr::get(module.getContext(), options.processor));
  PassManager pm(module.getContext());
  DeployPipelineOptions pipeline;
  pipeline.quantize = options.quantize;
  pipeline.numCore = options.numCore;
  pipeline.keepAll = options.debug;
  pipeline.windows = !options.emitFolder.empty() && !options.emitExact;
  EmitResult emitted;
  StageHook hook = [&, number = 0](OpPassManager &manager, StringRef stage) mutable {
    if (!options.dumpFolder.empty())
      manager.addPass(
          std::make_unique<DumpPass>(llvm::formatv("{0}/{1:02}-{2}.mlir", options.dumpFolder, number++, stage).str()));
    if (!options.emitFolder.empty() && stage == "pto")
      manager.addPass(createEmitPTO({options.emitFolder, options.processor, options.emitExact}, emitted));
    // For the dumps behind it (benchmarks/estimates.py).
    if (!options.dumpFolder.empty() && stage == "pto")
      manager.addPass(pto::createPTOEstimate({options.numCore}));
  };
  buildDeployPipeline(pm, pipeline, hook);
  std::optional<BuiltModel> built;
  if (run(pm, module, errors))
    built = buildModel(module, options, errors);
  if (!built)
    return std::nullopt;
  built->summary.emitted = emitted.written;
  built->summary.notEmitted = std::move(emitted.left);
  built->summary.rewritten = std::move(emitted.rewritten);
  return built;
}

/// An error message when the options are invalid for the processor; nullopt when they are valid.
static std::optional<std::string> processorProblem(const DeployOptions &options) {
  const pto::Target *target = pto::findTarget(options.processor);
  if (!target)
    return "processor '" + options.processor + "' is not known, the instruction table has " + pto::targetNames();
  if (options.numCore < 1 || options.numCore > target->blocks)
    return "expects 1 to " + std::to_string(target->blocks) + " cores on " + target->name + ", got " +
           std::to_string(options.numCore);
  return std::nullopt;
}

std::vector<ProcessorDescription> describeProcessors() {
  std::vector<ProcessorDescription> list;
  for (const pto::Target &target : pto::allTargets())
    list.push_back({target.name, static_cast<unsigned>(target.blocks), target.testOnly});
  return list;
}

std::optional<DeploySummary> deployModel(const DeployOptions &given, Errors &errors) {
  DeployOptions options = given;
  if (options.processor.empty())
    options.processor = pto::defaultTarget().name;
  if (auto problem = processorProblem(options)) {
    errors.push_back(*problem);
    return std::nullopt;
  }
  CompilerContext context;
  OwningOpRef<ModuleOp> module = readNet(options.mlirFile, context, errors);
  if (!module)
    return std::nullopt;
  std::vector<std::string> remarks;
  DiagnosticCollector collector(&context, errors, &remarks);
  std::optional<DeploySummary> summary;
  if (hasControlFlow(*module)) {
    auto deploy = [&](ModuleOp net, const DeployOptions &own) { return deployNet(net, own, errors); };
    summary = deployControlFlow(*module, options, deploy, errors);
  } else {
    if (auto built = deployNet(*module, options, errors))
      summary = withSizes(
          std::move(built->summary),
          pmodel::writeModel(built->model, pmodel::layoutWeights(built->model.weights), options.modelFile), errors);
  }
  if (summary)
    summary->remarks = std::move(remarks);
  else
    nameFile(options.mlirFile, errors);
  return summary;
}

} // namespace pto_mlir
