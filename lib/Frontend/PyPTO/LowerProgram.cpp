// Programs and functions.
#include "BlockBarriers.h"
#include "CarriedViews.h"
#include "JoinGroups.h"
#include "Lowering.h"
#include "MixedKernels.h"
#include "Orchestrator.h"
#include "TensorsToTiles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "pto_mlir/Dialect/PTO/Transforms/Passes.h"
#include "pypto/ir/orchestrators.h"
#include "pypto/ir/verify.h"

using namespace mlir;

namespace pto_mlir {
namespace ir = pypto::ir;
namespace pypto_frontend {
namespace {

/// How often each variable is read.
class Uses : public ir::IRVisitor {
public:
  explicit Uses(DenseMap<const ir::Var *, unsigned> &counts) : counts(counts) {}

protected:
  void VisitExpr_(const ir::VarPtr &op) override { ++counts[op.get()]; }
  void VisitExpr_(const ir::IterArgPtr &op) override { ++counts[op.get()]; }
  void VisitDef(const ir::VarPtr &var) override {
    if (auto arg = ir::As<ir::IterArg>(var))
      VisitExpr(arg->initValue_);
  }

private:
  DenseMap<const ir::Var *, unsigned> &counts;
};

bool takesTensors(const ir::Function &function) {
  return llvm::all_of(function.params_, [](const ir::VarPtr &param) {
    return ir::IsA<ir::ScalarType>(param->type_) || ir::IsA<ir::TensorType>(param->type_);
  });
}

/// What a run of the program is: the orchestrator, else the only group or kernel if it takes tensors and numbers. Null
/// for programs that are kernels only.
ir::FunctionPtr entryOf(const ir::Program &program) {
  std::vector<ir::FunctionPtr> orchestrators, hosts; // of devices; of the host level
  ir::FunctionPtr kernel;
  std::vector<ir::FunctionPtr> groups;
  unsigned kernels = 0;
  for (const ir::FunctionPtr &function : program.functions_) {
    if (function->func_type_ == ir::FunctionType::Orchestration) {
      (ir::IsHostLevel(*function) ? hosts : orchestrators).push_back(function);
    } else if (isKernel(*function)) {
      ++kernels;
      kernel = function;
    } else if (function->func_type_ == ir::FunctionType::Group) {
      groups.push_back(function);
    }
  }
  const std::vector<ir::FunctionPtr> &entries = hosts.empty() ? orchestrators : hosts;
  if (entries.size() > 1)
    fail(entries[1]->span_, "a program of several orchestrators is not lowered yet");
  if (!entries.empty())
    return entries.front();
  if (groups.size() == 1 && kernels == 2)
    kernel = groups[0], kernels = 1;
  bool writes = kernel && llvm::any_of(kernel->param_directions_,
                                       [](ir::ParamDirection each) { return each != ir::ParamDirection::In; });
  return kernels == 1 && writes && takesTensors(*kernel) ? kernel : nullptr;
}

/// Where some tiles have addresses, the others are placed around them.
LogicalResult planRest(ModuleOp module) {
  unsigned fixed = 0, open = 0;
  module.walk([&](pto::AllocTileOp alloc) { ++(alloc.getAddr() ? fixed : open); });
  if (fixed == 0 || open == 0)
    return success();
  PassManager pm(module.getContext());
  pm.addPass(pto::createPTOPlanLocalMemory());
  return pm.run(module);
}

} // namespace

Lowering::Lowering(ModuleOp module, const PyPTOOptions &options)
    : module(module), options(options), b(module.getContext()), constants(b), tiles(b), views(b), loc(module.getLoc()) {
}

void Lowering::VisitFunction(const ir::FunctionPtr &function) {
  MLIRContext &context = *b.getContext();
  loc = locationOf(context, function->span_);
  this->function = function->name_;
  b.setInsertionPointToEnd(module.getBody());
  auto func = b.create<func::FuncOp>(loc, function->name_, b.getFunctionType({}, {}));
  if (function->func_type_ == ir::FunctionType::AIC || function->func_type_ == ir::FunctionType::AIV) {
    auto kind = function->func_type_ == ir::FunctionType::AIC ? pto::KernelKind::cube : pto::KernelKind::vector;
    func->setAttr(pto::kKernelKindAttr, pto::KernelKindAttr::get(&context, kind));
  }
  b.setInsertionPointToStart(func.addEntryBlock());
  // Constants, tiles and views go before a mark each, which are taken out again.
  SmallVector<Operation *> marks;
  for (OpBuilder *part : {&constants, &tiles, &views}) {
    marks.push_back(b.create<UnrealizedConversionCastOp>(loc, TypeRange{b.getI1Type()}, ValueRange()));
    part->setInsertionPoint(marks.back());
  }
  auto end = b.create<func::ReturnOp>(loc);
  b.setInsertionPoint(end);
  Uses(uses).VisitStmt(function->body_);
  queueSpace = queueSpaceOf(*function);
  if (plan)
    addPlanned(function, func);
  else
    addParameters(function, func);
  VisitStmt(function->body_);
  placeSignals(*function, func);
  if (options.slots)
    takeSlotsInPipelines();
  placeTilesOfTurns();
  for (Operation *mark : marks)
    mark->erase();
}

} // namespace pypto_frontend

/// A module of what `lower` makes, verified; it is given the empty module.
static OwningOpRef<ModuleOp> makeModule(MLIRContext &context, const pypto::ir::ProgramPtr &program,
                                        const PyPTOOptions &options,
                                        llvm::function_ref<void(ModuleOp, const PyPTOOptions &)> lower) {
  namespace ir = pypto::ir;
  using namespace pypto_frontend;
  context.loadDialect<arith::ArithDialect, func::FuncDialect, scf::SCFDialect, pto::PTODialect>();
  OwningOpRef<ModuleOp> module = ModuleOp::create(locationOf(context, program->span_));
  if (options.target)
    (*module)->setAttr(pto::kTargetArchAttr, StringAttr::get(&context, options.target->name));
  pypto::codegen::PTOCodegen own(options.backend);
  PyPTOOptions used = options;
  if (used.backend && !used.emitter)
    used.emitter = &own;
  lower(*module, used);
  FirstError error(context);
  if (failed(verify(*module)) || (options.addresses && failed(planRest(*module))))
    error.raise();
  return module;
}

/// The memories of the target, or of the default one.
static const isa::ArchInfo &archOf(const PyPTOOptions &options) {
  return *isa::findArch((options.target ? *options.target : pto::defaultTarget()).name);
}

/// The program, verified, and its orchestrators marked.
static ir::ProgramPtr checkedProgram(const ir::ProgramPtr &program) {
  ir::VerifyProgram(program);
  pypto_frontend::verifyCalls(program);
  ir::ProgramPtr made = pypto_frontend::lowerBlockBarriers(ir::WithOrchestrators(program));
  return pypto_frontend::carryOffsetsOfViews(made);
}

/// The same in operations on tiles, as it is run.
static pypto_frontend::MixedProgram runnableProgram(const ir::ProgramPtr &program, const PyPTOOptions &options) {
  auto made = pypto_frontend::formMixedKernels(checkedProgram(program), options);
  made.program = pypto_frontend::tensorsToTiles(made.program, archOf(options), /*isRun=*/true);
  return made;
}

/// The kernels of a program of operations on tiles, each by itself.
static OwningOpRef<ModuleOp> lowerKernels(MLIRContext &context, const ir::ProgramPtr &tiled,
                                          const PyPTOOptions &options) {
  return makeModule(context, tiled, options, [&](ModuleOp module, const PyPTOOptions &used) {
    for (const ir::FunctionPtr &function : tiled->functions_)
      if (pypto_frontend::isKernel(*function))
        pypto_frontend::withPlace(function->span_,
                                  [&] { pypto_frontend::Lowering(module, used).VisitFunction(function); });
    pypto_frontend::joinGroups(module, *tiled);
  });
}

/// The orchestrator of a program, when it has run. Which devices share a window follows from the launches with it, so
/// where these are not all it runs again.
static std::unique_ptr<pypto_frontend::Orchestrator>
runOrchestrator(MLIRContext &context, const ir::ProgramPtr &tiled, const pypto_frontend::SeveralKernels &several,
                const ir::FunctionPtr &entry, const PyPTOOptions &options,
                llvm::function_ref<void(pypto_frontend::Orchestrator &)> setUp) {
  using namespace pypto_frontend;
  std::unique_ptr<Orchestrator> made;
  Orchestrator::WindowDevices devices;
  for (bool isFirst : {true, false}) {
    made = std::make_unique<Orchestrator>(tiled, entry, archOf(options), context, options.sizes, options.ranks);
    made->setSeveralKernels(several);
    made->setDevicesOfWindows(devices);
    setUp(*made);
    withPlace(entry->span_, [&] { made->run(); });
    if (!isFirst || !made->hasSmallGroups())
      break;
    devices = made->devicesOfWindows();
  }
  return made;
}

OwningOpRef<ModuleOp> lowerPyPTO(MLIRContext &context, const ir::ProgramPtr &program, const PyPTOOptions &options) {
  auto tiled = pypto_frontend::tensorsToTiles(checkedProgram(program), archOf(options), /*isRun=*/false);
  return lowerKernels(context, tiled, options);
}

PyPTOModules lowerPyPTOProgram(MLIRContext &context, const ir::ProgramPtr &program, const PyPTOOptions &options) {
  using namespace pypto_frontend;
  auto [tiled, several] = runnableProgram(program, options);
  ir::FunctionPtr entry = entryOf(*tiled);
  if (!entry)
    return {lowerKernels(context, tiled, options), {}, {}};
  auto orchestrator = runOrchestrator(context, tiled, several, entry, options,
                                      [&](Orchestrator &made) { made.setBlocks(options.blocks); });
  auto kernels = makeModule(context, tiled, options, [&](ModuleOp module, const PyPTOOptions &used) {
    for (const PlannedKernel &kernel : orchestrator->kernels())
      withPlace(kernel.function->span_, [&] { Lowering(module, used).lowerPlanned(kernel); });
    for (const PlannedKernel &kernel : orchestrator->kernels())
      joinPlanned(module, kernel);
  });
  std::set<std::string> ofBlocks;
  for (const PlannedKernel &kernel : orchestrator->kernels())
    if (kernel.isBlock)
      ofBlocks.insert(kernel.name);
  return {std::move(kernels), orchestrator->hostModule(context), std::move(ofBlocks)};
}

ir::ProgramPtr formPyPTOGroups(const ir::ProgramPtr &program, const PyPTOOptions &options) {
  auto made = pypto_frontend::formMixedKernels(checkedProgram(program), options);
  return made.several.empty() ? program : made.program;
}

std::string listPyPTOLaunches(MLIRContext &context, const ir::ProgramPtr &program, const PyPTOOptions &options) {
  using namespace pypto_frontend;
  auto [tiled, several] = runnableProgram(program, options);
  ir::FunctionPtr entry = entryOf(*tiled);
  CHECK(entry) << program->name_ << " has neither an orchestrator nor one kernel, so nothing is launched";
  auto orchestrator =
      runOrchestrator(context, tiled, several, entry, options, [](Orchestrator &made) { made.listLaunches(); });
  std::string text;
  withPlace(entry->span_, [&] { text = orchestrator->listed(); });
  return text;
}

} // namespace pto_mlir
