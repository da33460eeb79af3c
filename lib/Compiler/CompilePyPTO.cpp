// PyPTO's IR to .pto text or to a .pmodel of kernels.
#include "pto_mlir/Compiler/CompilePyPTO.h"

#include "CompileModule.h"
#include "CompilerContext.h"
#include "Diagnostics.h"
#include "mlir/Pass/PassManager.h"
#include "pto_mlir/Dialect/PTO/Transforms/Passes.h"
#include "pto_mlir/Frontend/PyPTO/LowerPyPTO.h"
#include "pto_mlir/Frontend/PyPTO/RaisePyPTO.h"
#include "pto_mlir/Target/PTOText/PTOText.h"
#include "pypto/backend/common/backend.h"
#include "pypto/codegen/code_generator.h"
#include "pypto/codegen/orchestration/orchestration_codegen.h"
#include "pypto/codegen/pto/pto_codegen.h"
#include "pypto/core/error.h"
#include "pypto/ir/serialize.h"
#include "pypto/ir/slots.h"
#include "pypto/ir/verify.h"

using namespace mlir;

namespace pto_mlir {
namespace {

pypto::ir::ProgramPtr readProgram(const std::string &bytes) {
  auto program = pypto::ir::As<pypto::ir::Program>(pypto::ir::deserialize(bytes));
  CHECK(program) << "the bytes hold no program";
  return program;
}

/// What `body` gives; nothing and its error in `errors` where it throws.
template <class F> auto collect(Errors &errors, F &&body) -> std::optional<decltype(body())> {
  try {
    return body();
  } catch (const std::exception &error) {
    errors.emplace_back(error.what());
    return std::nullopt;
  }
}

/// The target; null, with an error, for an unknown one.
const pto::Target *findProcessor(const std::string &processor, Errors &errors) {
  const pto::Target *arch = processor.empty() ? &pto::defaultTarget() : pto::findTarget(processor);
  if (!arch)
    errors.push_back("unknown processor " + processor + ": one of " + pto::targetNames());
  return arch;
}

} // namespace

std::optional<std::string> printPyPTO(const std::string &program, bool seed, bool slots, const std::string &processor,
                                      Errors &errors) {
  PyPTOOptions options;
  if (!processor.empty() && !(options.target = findProcessor(processor, errors)))
    return std::nullopt;
  return collect(errors, [&] {
    pypto::backend::Backend backend(processor);
    if (seed)
      return pypto::codegen::PTOCodegen(&backend).Generate(readProgram(program));
    MLIRContext context(MLIRContext::Threading::DISABLED);
    pypto::ir::ProgramPtr read = readProgram(program);
    if ((options.slots = slots))
      pypto::ir::CheckSlotRegions(read);
    OwningOpRef<ModuleOp> module = lowerPyPTO(context, read, options);
    std::string text;
    llvm::raw_string_ostream stream(text);
    ptotext::print(*module, stream);
    return asGeneratorSpells(text);
  });
}

std::optional<std::string> printPyPTOCpp(const std::string &function, const std::string &options,
                                         const std::string &processor, Errors &errors) {
  return collect(errors, [&] {
    auto read = pypto::ir::As<pypto::ir::Function>(pypto::ir::deserialize(function));
    CHECK(read) << "the bytes hold no function";
    pypto::codegen::CodeGeneratorOptions named;
    const std::pair<StringRef, bool *> fields[] = {{"today", &named.today},
                                                   {"places", &named.places},
                                                   {"plan", &named.plan},
                                                   {"optimise", &named.optimise},
                                                   {"debug_prints", &named.debugPrints},
                                                   {"profiling", &named.profiling},
                                                   {"hints", &named.hints}};
    for (StringRef option : llvm::split(options, ','))
      for (auto [name, field] : fields)
        *field |= option == name;
    pypto::backend::Backend backend(processor);
    return pypto::codegen::CodeGenerator(named, &backend).Generate(read);
  });
}

std::optional<PyPTOOrchestration> orchestratePyPTO(const std::string &program, const std::string &function, bool today,
                                                   const std::string &processor, Errors &errors) {
  return collect(errors, [&] {
    pypto::ir::ProgramPtr read = readProgram(program);
    pypto::ir::VerifyProgram(read);
    auto api = today ? pypto::codegen::OrchestrationApi::Today : pypto::codegen::OrchestrationApi::March2026;
    auto made = pypto::codegen::GenerateOrchestration(read, read->GetFunction(function), api,
                                                      processor.empty() ? pto::defaultTarget().name : processor);
    PyPTOOrchestration result{made.code, {}, {}, {}, pypto::ir::serialize(made.kernels), {}, {}};
    for (const pypto::ir::FunctionPtr &kernel : made.kernels->functions_) {
      result.kernels.push_back(kernel->name_);
      result.isCube.push_back(made.func_name_to_core_type.at(kernel->name_) == pypto::ir::CoreType::CUBE);
      result.withQueues.push_back(made.with_queues.count(kernel->name_) > 0);
    }
    result.returned = pypto::ir::serialize(std::make_shared<const pypto::ir::Function>(
        function, made.returned, std::vector<pypto::ir::TypePtr>(),
        std::make_shared<const pypto::ir::SeqStmts>(std::vector<pypto::ir::StmtPtr>(), pypto::ir::Span()),
        pypto::ir::Span()));
    result.extents = made.extents;
    return result;
  });
}

std::optional<std::string> expandPyPTOProgram(const std::string &program, const std::string &processor,
                                              Errors &errors) {
  const pto::Target *arch = findProcessor(processor, errors);
  if (!arch)
    return std::nullopt;
  return collect(errors, [&] { return pypto::ir::serialize(expandPyPTO(readProgram(program), *arch)); });
}

/// A kernel with the addresses that its tiles get; null where it has no such form.
static pypto::ir::FunctionPtr placed(const pypto::ir::FunctionPtr &kernel, const pto::Target &target) {
  CompilerContext context(MLIRContext::Threading::DISABLED);
  Errors ignored;
  DiagnosticCollector collector(&context, ignored);
  try {
    auto alone = std::make_shared<const pypto::ir::Program>(std::vector{kernel}, kernel->name_, kernel->span_);
    PyPTOOptions options;
    options.target = &target;
    OwningOpRef<ModuleOp> module = lowerPyPTO(context, alone, options);
    PassManager pm(&context);
    pm.addPass(pto::createPTOPlanLocalMemory());
    pypto::ir::ProgramPtr raised = succeeded(pm.run(*module)) ? raisePyPTO(*module) : nullptr;
    return raised && raised->functions_.size() == 1 ? raised->functions_[0] : nullptr;
  } catch (const pypto::Error &) {
    return nullptr;
  }
}

std::vector<std::pair<std::string, std::string>> tracePyPTO(const std::string &program, const std::string &processor,
                                                            Errors &errors) {
  std::vector<std::pair<std::string, std::string>> passes;
  const pto::Target *arch = findProcessor(processor, errors);
  if (!arch)
    return passes;
  auto observe = [&](const char *pass, const pypto::ir::ProgramPtr &made) {
    passes.emplace_back(pass, pypto::ir::serialize(made));
  };
  auto expanded = collect(errors, [&] { return expandPyPTO(readProgram(program), *arch, observe); });
  if (!expanded)
    return passes;
  std::vector<pypto::ir::FunctionPtr> kernels;
  for (const pypto::ir::FunctionPtr &function : (*expanded)->functions_)
    if (llvm::is_contained({pypto::ir::FunctionType::AIC, pypto::ir::FunctionType::AIV}, function->func_type_))
      if (pypto::ir::FunctionPtr kernel = placed(function, *arch))
        kernels.push_back(kernel);
  if (!kernels.empty())
    observe("AllocateMemoryAddr",
            std::make_shared<const pypto::ir::Program>(kernels, (*expanded)->name_, (*expanded)->span_));
  return passes;
}

/// Leaves the places of tiles to the planner where none has an address; buffers of queues are then placed like them.
static void choosePlaces(ModuleOp kernels, ProgramOptions &options) {
  kernels.walk([&](pto::AllocTileOp alloc) { options.level = alloc.getAddr() ? 3 : options.level; });
  if (options.level == 3)
    return;
  kernels.walk([](pto::ReserveBufferOp reserve) {
    reserve.setAutoAlloc(true);
    reserve.removeBaseAttr();
  });
}

/// Whether a group with its functions gets through the pipelines.
static bool compilesAlone(const pypto::ir::ProgramPtr &group, const ProgramOptions &given, const pto::Target &target) {
  CompilerContext context(MLIRContext::Threading::DISABLED);
  Errors ignored;
  DiagnosticCollector collector(&context, ignored);
  try {
    PyPTOOptions lowering;
    lowering.target = &target;
    OwningOpRef<ModuleOp> module = lowerPyPTO(context, group, lowering);
    ProgramOptions options = given;
    choosePlaces(*module, options);
    return kernelsCompile(*module, options, target.name);
  } catch (const pypto::Error &) {
    return false;
  }
}

/// How a program is lowered. Nullopt for an unknown processor, with the error.
static std::optional<PyPTOOptions> loweringOf(const ProgramOptions &options, Errors &errors) {
  const pto::Target *arch = findProcessor(options.processor, errors);
  if (!arch)
    return std::nullopt;
  PyPTOOptions lowering{true, arch};
  lowering.sizes = options.sizes;
  lowering.ranks = options.ranks;
  lowering.blocks = options.blocks;
  lowering.compiles = [&options, arch](const pypto::ir::ProgramPtr &group) {
    return compilesAlone(group, options, *arch);
  };
  return lowering;
}

std::optional<std::string> formPyPTO(const std::string &program, const std::string &processor, Errors &errors) {
  ProgramOptions options;
  options.processor = processor;
  std::optional<PyPTOOptions> lowering = loweringOf(options, errors);
  if (!lowering)
    return std::nullopt;
  return collect(errors, [&] { return pypto::ir::serialize(formPyPTOGroups(readProgram(program), *lowering)); });
}

std::optional<std::string> listPyPTO(const std::string &program, const ProgramOptions &options, Errors &errors) {
  std::optional<PyPTOOptions> lowering = loweringOf(options, errors);
  if (!lowering)
    return std::nullopt;
  CompilerContext context(MLIRContext::Threading::DISABLED);
  return collect(errors, [&] { return listPyPTOLaunches(context, readProgram(program), *lowering); });
}

std::optional<ProgramSummary> compilePyPTO(const std::string &program, const ProgramOptions &options, Errors &errors) {
  std::optional<PyPTOOptions> lowering = loweringOf(options, errors);
  if (!lowering)
    return std::nullopt;
  CompilerContext context(MLIRContext::Threading::DISABLED);
  auto module = collect(errors, [&] { return lowerPyPTOProgram(context, readProgram(program), *lowering); });
  if (!module)
    return std::nullopt;
  DiagnosticCollector collector(&context, errors);
  ProgramOptions placed = options;
  choosePlaces(*module->kernels, placed);
  std::optional<ProgramSummary> summary = compileModule(*module->kernels, placed, lowering->target->name, errors,
                                                        module->host ? *module->host : ModuleOp());
  if (!summary && errors.empty())
    errors.emplace_back("the compiler failed without a message");
  return summary;
}

} // namespace pto_mlir
