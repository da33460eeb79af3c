// Which scopes and kernels of both kinds of core are one task is decided before an orchestrator runs.
#include "MixedKernels.h"

#include "Calls.h"
#include "DivideKernel.h"
#include "LaneDivision.h"
#include "OutlineCalls.h"
#include "Plan.h"
#include "TensorsToTiles.h"

#include "pypto/core/error.h"
#include "pypto/ir/op_registry.h"
#include "pypto/ir/transforms/base/visitor.h"
#include "llvm/ADT/STLExtras.h"

namespace pto_mlir::pypto_frontend {

namespace ir = pypto::ir;

namespace {

using Functions = std::vector<ir::FunctionPtr>;

Calls callsOf(const ir::StmtPtr &stmt) {
  Calls calls;
  calls.VisitStmt(stmt);
  return calls;
}

/// The functions that are called as blocks.
class CalledByBlocks : public ir::IRVisitor {
public:
  std::set<std::string> names;

protected:
  void VisitExpr_(const ir::CallPtr &op) override {
    if (inBlocks)
      names.insert(op->op_->name_);
    ir::IRVisitor::VisitExpr_(op);
  }
  void VisitExpr_(const ir::SubmitPtr &op) override {
    if (inBlocks || op->core_num_)
      names.insert(op->op_->name_);
    ir::IRVisitor::VisitExpr_(op);
  }
  void VisitScopeStmt_(const ir::ScopeStmtPtr &op) override {
    bool outer = std::exchange(inBlocks, inBlocks || ir::IsA<ir::SpmdScopeStmt>(op));
    ir::IRVisitor::VisitScopeStmt_(op);
    inBlocks = outer;
  }

private:
  bool inBlocks = false;
};

/// How the vector cores access tensors, in operations on tiles.
class VectorAccesses : public ir::IRVisitor {
public:
  bool writesElements = false;   ///< other than with stores of tiles
  const ir::Var *lane = nullptr; ///< which of both cores it is
  /// Rows that an access touches; null for tensors that are no matrices.
  struct Rows {
    const ir::Var *tensor;
    ir::ExprPtr first, count;
  };
  std::vector<Rows> rows;

protected:
  void VisitStmt_(const ir::AssignStmtPtr &op) override {
    if (auto call = ir::As<ir::Call>(op->value_); call && call->op_->name_ == "tile.get_subblock_idx")
      lane = op->var_.get();
    ir::IRVisitor::VisitStmt_(op);
  }
  void VisitExpr_(const ir::CallPtr &op) override {
    ir::OpView view(*op);
    bool loads = op->op_->name_ == "tile.load", stores = op->op_->name_ == "tile.store";
    if (loads || stores) {
      auto tile = ir::As<ir::TileType>(loads ? op->type_ : view.Operand("tile")->type_);
      auto offsets = view.Elements("offsets");
      bool isMatrix = tile->shape_.size() == 2 && offsets.size() == 2;
      auto tensor = ir::As<ir::Var>(view.Operand(loads ? "tensor" : "out"));
      rows.push_back({tensor.get(), isMatrix ? offsets[0] : nullptr, tile->shape_[0]});
    }
    writesElements |= op->op_->name_ == "tensor.write";
    for (const char *name : {"out", "target", "dst"})
      if (!stores && view.row() && view.row()->Find(name) >= 0)
        writesElements |= bool(ir::As<ir::TensorType>(view.Operand(name)->type_));
    ir::IRVisitor::VisitExpr_(op);
  }
};

/// Whether both vector cores may run the function: with whole tiles both compute and the first one stores, so none of
/// them reads what is stored; with halves all rows that the first one touches of such a tensor lie before the second
/// one's.
bool isSafe(const ir::Function &vector) {
  std::set<const ir::Var *> both, read = readTensors(vector.body_), written = writtenTensors(vector.body_);
  llvm::copy_if(written, std::inserter(both, both.end()), [&](const ir::Var *var) { return read.count(var); });
  VectorAccesses accesses;
  accesses.VisitStmt(vector.body_);
  if (accesses.writesElements && !accesses.lane)
    return false;
  TensorRoots roots = tensorRoots(vector.body_);
  return llvm::all_of(both, [&](const ir::Var *tensor) {
    int64_t end = 0, begin = std::numeric_limits<int64_t>::max();
    for (const VectorAccesses::Rows &each : accesses.rows) {
      if (rootOf(roots, each.tensor) != tensor)
        continue;
      auto first = each.first ? onLane(each.first, accesses.lane, 0) : std::nullopt;
      auto second = each.first ? onLane(each.first, accesses.lane, 1) : std::nullopt;
      auto count = ir::ConstantInt(each.count);
      if (!accesses.lane || !first || !second || !count)
        return false;
      end = std::max(end, *first + *count);
      begin = std::min(begin, *second);
    }
    return end <= begin;
  });
}

/// Kernels as groups of functions, those that the passes behind take.
class Divider {
public:
  Divider(const PyPTOOptions &options, std::set<std::string> &names) : options(options), names(names) {}
  SeveralKernels several;

  /// The functions of both kinds of core and their group; none where the kernel is not one task.
  Functions divided(const ir::FunctionPtr &kernel) {
    if (names.count(kernel->name_ + "_aic") || names.count(kernel->name_ + "_aiv"))
      return {};
    for (const ir::FunctionPtr &way : waysOf(*kernel))
      if (Functions made = attempt(way); !made.empty()) {
        for (const ir::FunctionPtr &each : made)
          names.insert(each->name_);
        several[kernel->name_] = withScope(kernel);
        return made;
      }
    return {};
  }

private:
  /// As it is written; then with halves or without, which changes no result; then with queues of one slot, which hold
  /// the cores up but take less memory.
  static Functions waysOf(const ir::Function &kernel) {
    auto other = std::make_shared<ir::Function>(kernel);
    if (std::erase_if(other->attrs_, [](const auto &attr) { return attr.first == "split"; }) == 0)
      other->attrs_.emplace_back("split", ir::AsEnumValue(ir::SplitMode::UP_DOWN));
    Functions ways{std::make_shared<ir::Function>(kernel), other};
    for (const ir::FunctionPtr &way : Functions(ways))
      if (!ir::FindAttr(way->attrs_, "slot_num")) {
        auto narrow = std::make_shared<ir::Function>(*way);
        narrow->attrs_.emplace_back("slot_num", int64_t(1));
        ways.push_back(narrow);
      }
    return ways;
  }
  Functions attempt(const ir::FunctionPtr &kernel) const {
    const pto::Target &target = options.target ? *options.target : pto::defaultTarget();
    try {
      std::optional<CoreFunctions> cores = divideKernel(kernel, target);
      if (!cores)
        return {};
      const isa::ArchInfo &arch = *isa::findArch(target.name);
      auto group = std::make_shared<ir::Function>(*cores->group);
      group->attrs_.emplace_back(kFormedAttr, true);
      Functions made{ofOneCore(cores->cube, arch), ofOneCore(cores->vector, arch), group};
      if (!isSafe(*made[1]))
        return {};
      auto alone = std::make_shared<const ir::Program>(made, kernel->name_, kernel->span_);
      return options.compiles(alone) ? made : Functions();
    } catch (const pypto::Error &) {
      return {};
    }
  }

  const PyPTOOptions &options;
  std::set<std::string> &names;
};

/// Scopes of both kinds of core as calls of groups.
class MixedScopes : public CallOutliner {
public:
  MixedScopes(const ir::Function &entry, std::set<std::string> &names, Divider &divider)
      : CallOutliner(entry, names), entry(entry), divider(divider) {}

protected:
  using CallOutliner::VisitStmt_;
  /// What blocks compute is a scope.
  ir::StmtPtr VisitStmt_(const ir::SpmdScopeStmtPtr &op) override {
    bool outer = std::exchange(inBlocks, true);
    ir::StmtPtr made = blocks(op);
    inBlocks = outer;
    return made;
  }
  bool isOutlined(const ir::InCoreScopeStmt &scope) const override {
    auto isNumber = [](const ir::VarPtr &var) { return !ir::IsA<ir::TensorType>(var->type_); };
    return (inBlocks ? mixesInLoops(scope.body_) : mixesCores(scope.body_)) && !callsOf(scope.body_).signals &&
           llvm::none_of(escapingVariables(scope.body_, entry.body_), isNumber);
  }
  bool take(const ir::FunctionPtr &function) override {
    Functions functions = divider.divided(function);
    llvm::append_range(made, functions);
    return !functions.empty();
  }

private:
  ir::StmtPtr blocks(const ir::SpmdScopeStmtPtr &op) {
    if (launchesKernels(op->body_))
      return ir::IRMutator::VisitStmt_(op);
    ir::StmtPtr scope =
        std::make_shared<const ir::InCoreScopeStmt>(op->body_, op->name_hint_, std::nullopt, op->attrs_, op->span_);
    ir::StmtPtr made = VisitStmt(scope);
    if (made == scope)
      return op;
    return std::make_shared<const ir::SpmdScopeStmt>(op->core_num_, op->sync_start_, made, op->name_hint_, op->attrs_,
                                                     op->span_);
  }

  const ir::Function &entry;
  Divider &divider;
  bool inBlocks = false;
};

} // namespace

MixedProgram formMixedKernels(const ir::ProgramPtr &program, const PyPTOOptions &options) {
  auto defers = [](const ir::FunctionPtr &function) { return function->body_ && callsOf(function->body_).defers; };
  if (!options.compiles || llvm::any_of(program->functions_, defers))
    return {program, {}};
  std::set<std::string> names;
  CalledByBlocks byBlocks;
  for (const ir::FunctionPtr &function : program->functions_) {
    names.insert(function->name_);
    if (function->func_type_ == ir::FunctionType::Orchestration)
      byBlocks.VisitStmt(function->body_);
  }
  Divider divider(options, names);
  auto isMixed = [&](const ir::FunctionPtr &kernel) {
    return asOrchestrator(kernel) && !callsOf(kernel->body_).signals &&
           (!byBlocks.names.count(kernel->name_) || mixesInLoops(kernel->body_));
  };
  Functions functions;
  for (const ir::FunctionPtr &function : program->functions_) {
    bool isHost = ir::IsHostLevel(*function);
    Functions made;
    if (function->func_type_ == ir::FunctionType::Orchestration && !isHost) {
      MixedScopes scopes(*function, names, divider);
      ir::FunctionPtr calls = scopes.VisitFunction(function);
      made = std::move(scopes.made);
      made.push_back(calls);
    } else if (!isHost && isKernel(*function) && isMixed(function)) {
      made = divider.divided(function);
    }
    if (made.empty())
      made.push_back(function);
    llvm::append_range(functions, made);
  }
  if (functions == program->functions_)
    return {program, {}};
  return {std::make_shared<const ir::Program>(std::move(functions), program->name_, program->span_),
          std::move(divider.several)};
}

} // namespace pto_mlir::pypto_frontend
