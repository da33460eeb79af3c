// A program with its scopes as functions, and each function for one kind of core: what it is compiled to, as a program.
#include "OutlineScope.h"
#include "Plan.h"
#include "SplitCores.h"
#include "TensorsToTiles.h"
#include "TileNodes.h"

#include "pto_mlir/Frontend/PyPTO/LowerPyPTO.h"
#include "pypto/codegen/orchestration/orchestration_codegen.h"
#include "pypto/ir/op_registry.h"
#include "pypto/ir/orchestrators.h"
#include "pypto/ir/transforms/base/mutator.h"
#include "pypto/ir/transforms/base/visitor.h"
#include "pypto/ir/verify.h"
#include "llvm/ADT/STLExtras.h"

namespace pto_mlir {
namespace pypto_frontend {
namespace {

using Stmts = std::vector<ir::StmtPtr>;

/// The scopes of an orchestrator as functions, which it calls.
class Outliner : public ir::IRMutator {
public:
  Outliner(const ir::Function &entry, std::set<std::string> &names) : entry(entry), names(names) {}
  std::vector<ir::FunctionPtr> made;

protected:
  ir::StmtPtr VisitStmt_(const ir::SeqStmtsPtr &op) override {
    ir::StmtPtr visited = ir::IRMutator::VisitStmt_(op);
    return visited == op ? visited : std::make_shared<const ir::SeqStmts>(ir::FlattenStmts(visited), op->span_);
  }
  ir::StmtPtr VisitStmt_(const ir::InCoreScopeStmtPtr &op) override {
    // What says more about the task than its name stays a scope.
    auto isHint = [](const auto &attr) {
      return llvm::is_contained({"split", "slot_num", "allow_early_resolve", "dumps"}, attr.first);
    };
    if (!llvm::all_of(op->attrs_, isHint))
      return op;
    Stmts body = ir::FlattenStmts(op->body_), call;
    std::vector<ir::VarPtr> params = freeVariables(op->body_), results = escapingTensors(op, entry.body_);
    std::set<const ir::Var *> written = writtenTensors(op->body_);
    std::vector<ir::ParamDirection> directions;
    directions.reserve(params.size());
    for (const ir::VarPtr &param : params)
      directions.push_back(written.count(param.get()) ? ir::ParamDirection::InOut : ir::ParamDirection::In);
    std::vector<ir::ExprPtr> arguments(params.begin(), params.end()), returned;
    std::vector<ir::TypePtr> types;
    TensorRoots roots = tensorRoots(op->body_);
    for (const ir::VarPtr &result : results) {
      const ir::Var *root = rootOf(roots, result.get());
      bool isGiven = llvm::any_of(params, [&](const ir::VarPtr &param) { return param.get() == root; });
      types.push_back(result->type_);
      returned.push_back(isGiven ? ir::ExprPtr(result) : computed(result, params, arguments, body, call));
      directions.resize(params.size(), ir::ParamDirection::Out);
    }
    if (!returned.empty())
      body.push_back(std::make_shared<const ir::ReturnStmt>(returned, op->span_));
    auto function = std::make_shared<ir::Function>(nameOf(*op), params, types,
                                                   std::make_shared<const ir::SeqStmts>(std::move(body), op->span_),
                                                   op->span_, ir::FunctionType::InCore, std::move(directions));
    if (op->split_)
      function->attrs_.emplace_back("split", ir::AsEnumValue(*op->split_));
    if (const ir::Attr *slots = ir::FindAttr(op->attrs_, "slot_num"))
      function->attrs_.emplace_back("slot_num", *slots);
    made.push_back(function);
    bind(function->name_, std::move(arguments), results, types, op->span_, call);
    return std::make_shared<const ir::SeqStmts>(std::move(call), op->span_);
  }

private:
  std::string nameOf(const ir::InCoreScopeStmt &scope) {
    std::string base =
        scope.name_hint_.empty() ? entry.name_ + "_incore_" + std::to_string(number++) : scope.name_hint_;
    std::string name = base;
    for (int next = 1; !names.insert(name).second; ++next)
      name = base + "_" + std::to_string(next);
    return name;
  }

  /// A tensor that the scope computes, and that is read behind it: memory that the orchestrator makes.
  static ir::ExprPtr computed(const ir::VarPtr &result, std::vector<ir::VarPtr> &params,
                              std::vector<ir::ExprPtr> &arguments, Stmts &body, Stmts &call) {
    auto type = ir::As<ir::TensorType>(result->type_);
    auto plain = std::make_shared<const ir::TensorType>(type->shape_, type->dtype_);
    auto variable = [&](const char *suffix, const ir::TypePtr &of) {
      return std::make_shared<const ir::Var>(result->name_hint_ + suffix, of, result->span_);
    };
    ir::VarPtr memory = variable("_out", plain), param = variable("_out", plain), filled = variable("", type);
    call.push_back(std::make_shared<const ir::AssignStmt>(
        memory, ir::CreateOp("tensor.create_tensor", {{"", plain->shape_}, {"dtype", plain->dtype_}}, result->span_),
        result->span_));
    arguments.emplace_back(memory);
    params.push_back(param);
    std::vector<ir::ExprPtr> operands{param, result, tuple(zeros(plain->shape_.size()))};
    body.push_back(std::make_shared<const ir::AssignStmt>(
        filled, ir::CreateOp("tensor.assemble", std::move(operands), result->span_), result->span_));
    return filled;
  }

  static void bind(const std::string &name, std::vector<ir::ExprPtr> arguments, const std::vector<ir::VarPtr> &results,
                   const std::vector<ir::TypePtr> &types, const ir::Span &span, Stmts &stmts) {
    ir::TypePtr type = ir::UnknownType::Get();
    if (types.size() == 1)
      type = types[0];
    else if (!types.empty())
      type = std::make_shared<const ir::TupleType>(types);
    auto call = std::make_shared<const ir::Call>(std::make_shared<const ir::GlobalVar>(name), std::move(arguments),
                                                 ir::Attrs(), type, span);
    if (results.empty()) {
      stmts.push_back(std::make_shared<const ir::EvalStmt>(call, span));
    } else if (results.size() == 1) {
      stmts.push_back(std::make_shared<const ir::AssignStmt>(results[0], call, span));
    } else {
      auto all = std::make_shared<const ir::Var>("results", type, span);
      stmts.push_back(std::make_shared<const ir::AssignStmt>(all, call, span));
      for (size_t i = 0; i < results.size(); ++i)
        stmts.push_back(std::make_shared<const ir::AssignStmt>(
            results[i], std::make_shared<const ir::TupleGetItemExpr>(all, int64_t(i), span), span));
    }
  }

  const ir::Function &entry;
  std::set<std::string> &names;
  size_t number = 0;
};

/// What scopes say of kernels of both kinds of core is none of others.
ir::FunctionPtr withoutHints(const ir::FunctionPtr &function) {
  auto made = std::make_shared<ir::Function>(*function);
  std::erase_if(made->attrs_, [](const auto &attr) { return attr.first == "slot_num" || attr.first == "split"; });
  return made;
}

/// Refuses rings that L1 does not hold beside what the cube core loads.
void checkRings(const ir::Function &cube, const isa::ArchInfo &arch) {
  class Bytes : public ir::IRVisitor {
  public:
    int64_t reserved = 0, largest = 0;

  protected:
    void VisitExpr_(const ir::CallPtr &op) override {
      if (op->op_->name_ == "system.reserve_buffer")
        reserved += *ir::OpView(*op).Keyword<int64_t>("size");
      auto tile = ir::As<ir::TileType>(op->type_);
      if (tile && op->op_->name_ == "tile.load" && tile->GetMemorySpace() == ir::MemorySpace::Mat) {
        auto [rows, columns] = extentsOf(tile->shape_, op->span_);
        largest = std::max(largest, rows * columns * int64_t(tile->dtype_.GetBit()) / 8);
      }
      ir::IRVisitor::VisitExpr_(op);
    }
  };
  Bytes bytes;
  bytes.VisitStmt(tensorsToTiles(std::make_shared<const ir::Function>(cube), arch)->body_);
  int64_t limit = int64_t(arch.memory(isa::Memory::L1).bytes);
  if (bytes.reserved && bytes.reserved + bytes.largest > limit)
    fail(cube.span_, "Mat buffer usage (" + std::to_string(bytes.reserved + bytes.largest) +
                         " bytes) exceeds platform limit (" + std::to_string(limit) + " bytes). The first " +
                         std::to_string(bytes.reserved) +
                         " bytes of that space are reserved by system.reserve_buffer for the cross-core pipe ring; "
                         "take fewer slots with pl.cross_core_slot(slot_num=N)");
}

/// The function with tiles, and for its kind of core; as it is where that would change its parameters.
ir::FunctionPtr ofOneCore(const ir::FunctionPtr &function, const isa::ArchInfo &arch) {
  ir::FunctionPtr tiled = tensorsToTiles(function, arch);
  if (tiled->params_.size() != function->params_.size())
    return function;
  auto made = std::make_shared<ir::Function>(*tiled);
  made->level_ = function->level_, made->role_ = function->role_, made->attrs_ = function->attrs_;
  if (function->func_type_ == ir::FunctionType::InCore)
    made->func_type_ = pypto::codegen::InferFunctionCoreType(made) == ir::CoreType::CUBE ? ir::FunctionType::AIC
                                                                                         : ir::FunctionType::AIV;
  return made;
}

bool isKernel(const ir::FunctionPtr &function) {
  return function->func_type_ == ir::FunctionType::InCore && function->level_ != ir::Level::HOST;
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
    if (function->func_type_ != ir::FunctionType::Orchestration || function->level_ == ir::Level::HOST) {
      functions.push_back({function});
      continue;
    }
    Outliner outliner(*function, names);
    ir::FunctionPtr calls = outliner.VisitFunction(function);
    for (const ir::FunctionPtr &made : outliner.made)
      functions.push_back({made, /*isScope=*/true});
    functions.push_back({calls});
  }
  return functions;
}

std::vector<Staged> splitKernels(const std::vector<Staged> &functions, const pto::Target &target) {
  std::vector<Staged> made;
  for (const auto &[function, isScope, _] : functions) {
    auto cores = isKernel(function) ? splitCores(function) : std::nullopt;
    auto mode = ir::FindEnum(function->attrs_, "split", ir::SplitMode::NONE);
    if (cores && mode != ir::SplitMode::NONE && !ir::FindAttr(cores->vector->attrs_, "split_aiv"))
      cores = splitHalves(*cores, mode, !target.directTiles);
    if (!cores) {
      made.push_back({isScope ? withoutHints(function) : function, isScope, isKernel(function)});
      continue;
    }
    checkRings(*cores->cube, *isa::findArch(target.name));
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
