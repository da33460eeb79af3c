// The compiler as a library: import, pass pipelines, codegen, Builder.
#include "pto_mlir/Compiler/Compiler.h"

#include "CompilerContext.h"
#include "ControlFlowModel.h"
#include "DeployNet.h"
#include "Diagnostics.h"
#include "NumpyType.h"
#include "SizedImport.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "pto_mlir/Compiler/ModelBuilder.h"
#include "pto_mlir/Conversion/ControlToVM/Passes.h"
#include "pto_mlir/Dialect/PTO/IR/PTOTraits.h"
#include "pto_mlir/Dialect/PTO/Transforms/Passes.h"
#include "pto_mlir/Dialect/Top/IR/State.h"
#include "pto_mlir/Dialect/Top/IR/Top.h"
#include "pto_mlir/Dialect/Top/Transforms/ModuleIO.h"
#include "pto_mlir/Dialect/Top/Transforms/Passes.h"
#include "pto_mlir/Frontend/ONNX/Import.h"
#include "pto_mlir/Kernels/Templates.h"
#include "pto_mlir/Pipelines/Pipelines.h"
#include "pto_mlir/Pipelines/Registration.h"

using namespace mlir;

namespace pto_mlir {
namespace {

/// Module attributes written by model_transform in addition to those of the importer.
constexpr llvm::StringLiteral kPreprocessAttr = "top.preprocess";

/// Runs the pipeline; adds an error message for a failure without a diagnostic.
bool run(PassManager &pm, ModuleOp module, Errors &errors) {
  if (succeeded(pm.run(module)))
    return true;
  if (errors.empty())
    errors.push_back("the compiler failed without a message");
  return false;
}

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

/// Imports the model with these sizes of named dimensions and runs the pipeline of model_transform; null after an
/// error.
static OwningOpRef<ModuleOp> importModel(const TransformOptions &options,
                                         const std::map<std::string, std::vector<int64_t>> &sizes, MLIRContext &context,
                                         Errors &errors) {
  onnx::ImportOptions import{options.inputShapes, options.outputNames, options.modelName,   options.maxExtent, sizes,
                             options.state,       options.stateLength, options.inputValues, options.kernels};
  OwningOpRef<ModuleOp> module = onnx::importONNX(options.modelFile, import, context, errors);
  if (!module)
    return nullptr;
  (*module)->setAttr(kPreprocessAttr, StringAttr::get(&context, options.preprocess));
  DiagnosticCollector collector(&context, errors);
  PassManager pm(&context);
  TransformPipelineOptions pipeline;
  pipeline.strictF64 = options.strictF64;
  buildTransformPipeline(pm, pipeline);
  if (!run(pm, *module, errors)) {
    nameFile(options.modelFile, errors);
    return nullptr;
  }
  return module;
}

/// The same for ranges: one module for all sizes, else one with a version for each.
static OwningOpRef<ModuleOp> importRanges(const TransformOptions &options, MLIRContext &context,
                                          TransformSummary &summary, Errors &errors) {
  std::map<std::string, std::vector<int64_t>> all = options.sizes;
  bool isList = false; // a dimension is enumerated in any case
  for (auto &[name, sizes] : options.sizes)
    isList |= sizes.size() > 1;
  std::map<std::string, int64_t> greatest;
  for (auto &[name, range] : options.ranges) {
    greatest[name] = range.greatest;
    for (int64_t size = range.least; size <= range.greatest && all[name].size() <= onnx::kVersionNodes;
         size += range.multiple)
      all[name].push_back(size);
  }
  auto importAt = [&](const std::map<std::string, int64_t> &sizes, MLIRContext &where) {
    std::map<std::string, std::vector<int64_t>> lists = options.sizes;
    for (auto &[name, size] : sizes)
      lists[name] = {size};
    Errors ignored;
    return importModel(options, lists, where, sizes == greatest ? errors : ignored);
  };
  std::string reason = "another dimension has a list of sizes";
  std::optional<std::string> use = isList ? std::nullopt : onnx::sizeUseProblem(options.modelFile);
  if (use)
    reason = *use;
  if (!isList && !use) {
    OwningOpRef<ModuleOp> module = importAt(greatest, context);
    if (!module)
      return nullptr;
    std::optional<std::string> problem = findSizes(*module, options.ranges, importAt);
    if (!problem) {
      for (auto &[name, range] : options.ranges)
        summary.bounded.push_back(name);
      return module;
    }
    reason = *problem;
  }
  for (auto &[name, range] : options.ranges)
    summary.remarks.push_back("a version is compiled for each size of '" + name + "', since " + reason);
  OwningOpRef<ModuleOp> module = importModel(options, all, context, errors);
  for (std::string &line : errors)
    line += " (the sizes are versions, since " + reason + ")";
  return module;
}

std::optional<TransformSummary> transformModel(const TransformOptions &options, Errors &errors) {
  CompilerContext context;
  TransformSummary summary;
  OwningOpRef<ModuleOp> module = options.ranges.empty() ? importModel(options, options.sizes, context, errors)
                                                        : importRanges(options, context, summary, errors);
  if (!module)
    return std::nullopt;
  if (auto nodes = (*module)->getAttrOfType<IntegerAttr>("top.onnx_nodes"))
    summary.nodes = nodes.getInt();
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
    if (auto axis = top::stateAxis(main, i)) {
      std::vector<NetTensor> state;
      describe(state, name, type);
      if (!state.empty())
        net.states.push_back({state.front(), "", *axis});
    } else if (top::isStateArgument(main, i)) {
      net.hasPosition = true;
    } else {
      describe(net.inputs, name ? name : empty, type);
    }
  }
  for (auto [i, type] : llvm::enumerate(main.getResultTypes())) {
    auto name = main.getResultAttrOfType<StringAttr>(i, top::kNameAttr);
    if (auto state = main.getResultAttrOfType<StringAttr>(i, top::kStateOfAttr)) {
      for (NetState &known : net.states)
        if (known.tensor.name == state.getValue())
          known.output = name.str();
    } else {
      describe(net.outputs, name ? name : empty, type);
    }
  }
  if (auto rows = main->getAttrOfType<IntegerAttr>(top::kStateRowsAttr))
    net.stateRows = rows.getInt();
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

/// Prepares `module` for plans other than those that have not worked: what a kernel could not compute is built from
/// other ops once, then goes to the host by name.
static bool takeOtherPlans(ModuleOp module, const RefusedTensors &refused, Errors &errors) {
  auto refusalOf = [&](Operation *op) {
    auto found = refused.find(std::string_view(top::getTensorName(op->getLoc())));
    return found == refused.end() ? nullptr : &found->second;
  };
  llvm::StringSet<> marked;
  module->walk([&](Operation *op) {
    const Refusal *refusal = refusalOf(op);
    if (!refusal || refusal->times > 1 || !isa<top::ConvOp, top::ConvTransposeOp, top::MaxPoolOp, top::AvgPoolOp>(op))
      return;
    op->setAttr(top::kNoKernelAttr, UnitAttr::get(module.getContext()));
    marked.insert(top::getTensorName(op->getLoc()));
  });
  PassManager pm(module.getContext());
  if (!marked.empty()) {
    pm.addPass(top::createTopDecompose());
    pm.addPass(top::createTopFold());
  }
  pm.addPass(top::createTopLegalizeTypes([&](Operation *op) {
    const Refusal *refusal = refusalOf(op);
    return refusal && !marked.contains(top::getTensorName(op->getLoc())) ? refusal->limit : templates::refusalByAll(op);
  }));
  return run(pm, module, errors);
}

/// Compiles `module` and writes it.
static std::optional<DeploySummary> deployOnce(ModuleOp module, const DeployOptions &options, DeployReport report) {
  if (!takeOtherPlans(module, report.refused, report.errors))
    return std::nullopt;
  auto main = module.lookupSymbol<func::FuncOp>("main");
  if (hasControlFlow(module) && main && main->hasAttr(top::kSymbolsAttr)) {
    report.errors.push_back(options.mlirFile +
                            ": its sizes are known at run time, but an op of it runs on the host; transform the "
                            "model with a list of sizes (--dynamic name=1|2|4)");
    return std::nullopt;
  }
  auto deploy = [&](ModuleOp net, const DeployOptions &own) { return deployNet(net, own, report); };
  if (hasControlFlow(module))
    return deployControlFlow(module, options, deploy, report.errors);
  auto built = deploy(module, options);
  if (!built)
    return std::nullopt;
  auto written = pmodel::writeModel(built->model, pmodel::layoutWeights(built->model.weights), options.modelFile);
  return withSizes(std::move(built->summary), written, report.errors);
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
  RefusedTensors refused;
  while (true) {
    Errors own;
    std::vector<std::string> remarks;
    DiagnosticCollector collector(&context, own, &remarks);
    unsigned known = countRefusals(refused);
    OwningOpRef<ModuleOp> copy(module->clone());
    if (std::optional<DeploySummary> summary = deployOnce(*copy, options, {own, remarks, refused})) {
      summary->remarks = std::move(remarks);
      return summary;
    }
    if (countRefusals(refused) > known)
      continue;
    nameFile(options.mlirFile, own);
    errors.insert(errors.end(), own.begin(), own.end());
    return std::nullopt;
  }
}

} // namespace pto_mlir
