// The compiler as a library: import, pass pipelines, codegen, Builder.
#include "pto_mlir/Compiler/Compiler.h"

#include "CompilerContext.h"
#include "ControlFlowModel.h"
#include "DeployNet.h"
#include "Diagnostics.h"
#include "NumpyType.h"
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
#include "pto_mlir/Kernels/Templates.h"
#include "pto_mlir/Pipelines/Pipelines.h"
#include "pto_mlir/Pipelines/Registration.h"

using namespace mlir;

namespace pto_mlir {
namespace {

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

} // namespace

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
  return runPasses(pm, module, errors);
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
