// A program with its scopes as functions, and each function for one kind of core: what it is compiled to, as a program.
#include "DivideKernel.h"
#include "JoinLanes.h"
#include "OutlineCalls.h"
#include "TensorsToTiles.h"
#include "TileNodes.h"

#include "pto_mlir/Frontend/PyPTO/LowerPyPTO.h"
#include "pypto/ir/orchestrators.h"
#include "pypto/ir/verify.h"

namespace pto_mlir {
namespace pypto_frontend {

namespace ir = pypto::ir;

namespace {

using Stmts = std::vector<ir::StmtPtr>;

/// What scopes say of kernels of both kinds of core is none of others.
ir::FunctionPtr withoutHints(const ir::FunctionPtr &function) {
  auto made = std::make_shared<ir::Function>(*function);
  std::erase_if(made->attrs_, [](const auto &attr) { return attr.first == "slot_num" || attr.first == "split"; });
  return made;
}

bool isKernel(const ir::FunctionPtr &function) {
  return function->func_type_ == ir::FunctionType::InCore && !ir::IsHostLevel(*function);
}

/// A function, and what follows for it: its scope's hints are dropped, it is for one kind of core.
struct Staged {
  ir::FunctionPtr function;
  bool isScope = false, isKernel = false;
};

std::vector<Staged> outlineScopes(const ir::Program &program) {
  std::set<std::string> names;
  for (const ir::FunctionPtr &function : program.functions_)
    names.insert(function->name_);
  std::vector<Staged> functions;
  for (const ir::FunctionPtr &function : program.functions_) {
    if (function->func_type_ != ir::FunctionType::Orchestration || ir::IsHostLevel(*function)) {
      functions.push_back({function});
      continue;
    }
    CallOutliner outliner(*function, names);
    ir::FunctionPtr calls = outliner.VisitFunction(function);
    for (const ir::FunctionPtr &made : outliner.made)
      functions.push_back({made, /*isScope=*/true});
    functions.push_back({calls});
  }
  return functions;
}

/// A kernel of the vector cores that each do a part of.
ir::FunctionPtr ofBothLanes(const ir::FunctionPtr &function) {
  ir::StmtPtr body = joinLanes(function->body_);
  return body == function->body_ ? function : withBody(*function, body);
}

std::vector<Staged> splitKernels(const std::vector<Staged> &functions, const pto::Target &target) {
  std::vector<Staged> made;
  for (const auto &[function, isScope, _] : functions) {
    auto cores = isKernel(function) ? divideKernel(function, target) : std::nullopt;
    if (!cores) {
      ir::FunctionPtr kernel = isKernel(function) ? ofBothLanes(function) : function;
      made.push_back({isScope ? withoutHints(kernel) : kernel, isScope, isKernel(function)});
      continue;
    }
    for (const ir::FunctionPtr &core : {cores->cube, cores->vector})
      made.push_back({core, isScope, /*isKernel=*/true});
    made.push_back({cores->group});
  }
  return made;
}

} // namespace
} // namespace pypto_frontend

pypto::ir::ProgramPtr expandPyPTO(const pypto::ir::ProgramPtr &given, const pto::Target &target,
                                  const PyPTOPassObserver &observer) {
  using namespace pypto_frontend;
  ir::VerifyProgram(given);
  verifyCalls(given);
  ir::ProgramPtr program = ir::WithOrchestrators(given);
  auto show = [&](const char *pass, const std::vector<Staged> &functions) {
    std::vector<ir::FunctionPtr> held;
    for (const Staged &each : functions)
      held.push_back(each.function);
    auto shown = std::make_shared<const ir::Program>(std::move(held), program->name_, program->span_);
    if (observer)
      observer(pass, shown);
    return shown;
  };
  std::vector<Staged> functions = outlineScopes(*program);
  show("OutlineIncoreScopes", functions);
  functions = splitKernels(functions, target);
  show("ExpandMixedKernel", functions);
  for (Staged &each : functions)
    if (each.isKernel)
      each.function = ofOneCore(each.function, *isa::findArch(target.name));
  ir::ProgramPtr result = show("ConvertTensorToTileOps", functions);
  ir::VerifyProgram(result);
  return result;
}

} // namespace pto_mlir
