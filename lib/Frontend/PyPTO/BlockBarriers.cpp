#include "BlockBarriers.h"

#include "BlockPhases.h"
#include "Plan.h"
#include "TensorsToTiles.h"
#include "TileNodes.h"
#include "Types.h"

#include "pypto/ir/op_registry.h"
#include "pypto/ir/transforms/base/mutator.h"
#include "pypto/ir/transforms/base/visitor.h"
#include "llvm/ADT/STLExtras.h"

namespace pto_mlir::pypto_frontend {

namespace ir = pypto::ir;

namespace {

using Tensors = std::set<const ir::Var *>;

class BarrierRemover : public ir::IRMutator {
protected:
  ir::StmtPtr VisitStmt_(const ir::SeqStmtsPtr &op) override {
    std::vector<ir::StmtPtr> kept;
    for (const ir::StmtPtr &stmt : op->stmts_)
      if (!isBarrier(stmt))
        kept.push_back(VisitStmt(stmt));
    return std::make_shared<const ir::SeqStmts>(std::move(kept), op->span_);
  }
};

/// What a block runs.
class Unit {
public:
  explicit Unit(const ir::StmtPtr &body) : body(body), roots(viewRoots(body)) {
    for (const ir::VarPtr &var : freeVariables(body))
      shared.insert(var.get());
  }

  /// Whether a barrier orders what blocks do with a tensor that several of them have.
  bool isOrdered() const {
    std::vector<ir::StmtPtr> stmts = ir::FlattenStmts(body);
    for (size_t i = 0; i < stmts.size(); ++i)
      // What holds a barrier is in front of it and behind it.
      if (holdsBarrier(stmts[i]) &&
          isOrdered({stmts.begin(), stmts.begin() + long(i) + 1}, {stmts.begin() + long(i), stmts.end()}))
        return true;
    return false;
  }

private:
  struct Accesses {
    Tensors read, written;
  };
  Accesses accessesOf(const std::vector<ir::StmtPtr> &stmts) const {
    auto part = BarrierRemover().VisitStmt(std::make_shared<const ir::SeqStmts>(stmts, body->span_));
    return {sharedOf(readTensors(part)), sharedOf(writtenTensors(part))};
  }
  Tensors sharedOf(const Tensors &tensors) const {
    Tensors found;
    for (const ir::Var *var : tensors)
      if (const ir::Var *root = rootOf(roots, var); shared.count(root))
        found.insert(root);
    return found;
  }
  bool isOrdered(const std::vector<ir::StmtPtr> &front, const std::vector<ir::StmtPtr> &behind) const {
    Accesses before = accessesOf(front), after = accessesOf(behind);
    return llvm::any_of(shared, [&](const ir::Var *tensor) {
      return (before.written.count(tensor) && (after.read.count(tensor) || after.written.count(tensor))) ||
             (before.read.count(tensor) && after.written.count(tensor));
    });
  }

  ir::StmtPtr body;
  TensorRoots roots;
  Tensors shared; ///< that are not made by the block
};

/// The body of a kernel in the place of its call.
class Inlined : public ir::IRMutator {
public:
  Inlined(const ir::Function &kernel, const ir::Call &call) {
    for (size_t i = 0; i < kernel.params_.size(); ++i)
      bind(kernel.params_[i], call.args_[i]);
    body = VisitStmt(kernel.body_);
  }
  ir::StmtPtr body;
  std::vector<ir::ExprPtr> returned;

protected:
  ir::ExprPtr VisitExpr_(const ir::VarPtr &op) override {
    auto found = arguments.find(op.get());
    return found == arguments.end() ? ir::IRMutator::VisitExpr_(op) : found->second;
  }
  ir::ExprPtr VisitExpr_(const ir::CallPtr &op) override {
    ir::ExprPtr made = ir::IRMutator::VisitExpr_(op);
    ir::TypePtr type = typed(op->type_);
    if (type == op->type_)
      return made;
    auto call = std::make_shared<ir::Call>(*ir::As<ir::Call>(made));
    call->type_ = type;
    return call;
  }
  ir::VarPtr VisitDef(const ir::VarPtr &var) override {
    ir::TypePtr type = typed(var->type_);
    if (auto carried = ir::As<ir::IterArg>(var))
      return std::make_shared<const ir::IterArg>(var->name_hint_, type, VisitExpr(carried->initValue_), var->span_);
    return std::make_shared<const ir::Var>(var->name_hint_, type, var->span_);
  }
  ir::StmtPtr VisitStmt_(const ir::ReturnStmtPtr &op) override {
    for (const ir::ExprPtr &value : op->value_)
      returned.push_back(VisitExpr(value));
    return std::make_shared<const ir::SeqStmts>(std::vector<ir::StmtPtr>(), op->span_);
  }

private:
  /// A parameter, and the extents that it leaves open.
  void bind(const ir::VarPtr &param, const ir::ExprPtr &argument) {
    arguments[param.get()] = argument;
    const std::vector<ir::ExprPtr> *extents = ir::ShapeOf(param->type_), *given = ir::ShapeOf(argument->type_);
    for (size_t axis = 0; extents && given && axis < std::min(extents->size(), given->size()); ++axis)
      if (auto symbol = ir::As<ir::Var>((*extents)[axis]))
        arguments.emplace(symbol.get(), (*given)[axis]);
  }
  bool map(std::vector<ir::ExprPtr> &extents) {
    bool changed = false;
    for (ir::ExprPtr &extent : extents) {
      ir::ExprPtr made = VisitExpr(extent);
      changed |= made != extent;
      extent = made;
    }
    return changed;
  }
  ir::TypePtr typed(const ir::TypePtr &type) {
    if (auto tile = ir::As<ir::TileType>(type); tile && tile->tile_view_) {
      ir::TileView view = *tile->tile_view_;
      if (map(view.valid_shape))
        return std::make_shared<const ir::TileType>(tile->shape_, tile->dtype_, tile->memref_, view,
                                                    tile->memory_space_);
    }
    if (auto tensor = ir::As<ir::TensorType>(type); tensor && !ir::IsA<ir::DistributedTensorType>(type)) {
      std::vector<ir::ExprPtr> shape = tensor->shape_;
      std::optional<ir::TensorView> view = tensor->tensor_view_;
      bool changed = map(shape);
      for (auto *extents : {view ? &view->valid_shape : nullptr, view ? &view->stride : nullptr})
        if (extents && map(*extents))
          changed = true;
      if (view && changed)
        return std::make_shared<const ir::TensorType>(shape, tensor->dtype_, tensor->memref_, view);
      if (changed)
        return std::make_shared<const ir::TensorType>(shape, tensor->dtype_, tensor->memref_);
    }
    return type;
  }

  std::map<const ir::Var *, ir::ExprPtr> arguments;
};

using Kernels = std::map<std::string, ir::FunctionPtr>;

/// The kernel of `kernels` that a statement calls, and the call; null for others.
std::pair<ir::FunctionPtr, ir::CallPtr> calledBy(const ir::StmtPtr &stmt, const Kernels &kernels) {
  auto call = ir::As<ir::Call>(expressionOf(stmt));
  auto name = call ? ir::As<ir::GlobalVar>(call->op_) : nullptr;
  auto found = name ? kernels.find(name->name_) : kernels.end();
  return found == kernels.end() ? std::pair<ir::FunctionPtr, ir::CallPtr>() : std::pair(found->second, call);
}

/// Scopes of blocks without the barriers, theirs and of the kernels that they call, that order something.
class Scopes : public ir::IRMutator {
public:
  explicit Scopes(const Kernels &kernels) : kernels(kernels) {}
  std::set<std::string> called; ///< of `kernels`: outside of scopes of blocks, where barriers order nothing
  std::set<std::string> inlined;

protected:
  ir::StmtPtr VisitScopeStmt_(const ir::ScopeStmtPtr &op) override {
    auto blocks = ir::As<ir::SpmdScopeStmt>(op);
    if (blocks)
      for (const ir::StmtPtr &stmt : ir::FlattenStmts(blocks->body_))
        if (auto [kernel, call] = calledBy(stmt, kernels); kernel)
          return inlineCall(*blocks, stmt, *kernel, *call);
    ir::StmtPtr inner = ir::IRMutator::VisitScopeStmt_(op);
    blocks = ir::As<ir::SpmdScopeStmt>(inner);
    if (!blocks)
      return inner;
    ir::InCoreScopeStmtPtr kernel = ir::KernelOfBlocks(*blocks);
    return Unit(kernel ? kernel->body_ : blocks->body_).isOrdered() ? cutAtBarriers(*blocks) : inner;
  }
  ir::ExprPtr VisitExpr_(const ir::CallPtr &op) override {
    if (auto name = ir::As<ir::GlobalVar>(op->op_))
      called.insert(name->name_);
    return ir::IRMutator::VisitExpr_(op);
  }
  ir::ExprPtr VisitExpr_(const ir::SubmitPtr &op) override {
    auto name = ir::As<ir::GlobalVar>(op->op_);
    if (name && kernels.count(name->name_) && op->core_num_)
      fail(op->span_, name->name_ +
                          " has a barrier that orders what blocks do, which pl.submit does not launch; call it "
                          "in pl.spmd");
    return ir::IRMutator::VisitExpr_(op);
  }

private:
  ir::StmtPtr inlineCall(const ir::SpmdScopeStmt &blocks, const ir::StmtPtr &stmt, const ir::Function &kernel,
                         const ir::Call &call) {
    inlined.insert(kernel.name_);
    Inlined body(kernel, call);
    auto scope =
        std::make_shared<const ir::InCoreScopeStmt>(body.body, kernel.name_, std::nullopt, ir::Attrs(), call.span_);
    auto whole = std::make_shared<ir::SpmdScopeStmt>(blocks);
    whole->body_ = scope;
    std::vector<ir::StmtPtr> made{cutAtBarriers(*whole)};
    auto result = ir::As<ir::AssignStmt>(stmt);
    for (const ir::StmtPtr &other : ir::FlattenStmts(blocks.body_)) {
      if (other == stmt) {
        if (body.returned.size() == 1 && result)
          made.push_back(std::make_shared<const ir::AssignStmt>(result->var_, body.returned[0], stmt->span_));
        continue;
      }
      auto part = ir::As<ir::AssignStmt>(other);
      auto item = part ? ir::As<ir::TupleGetItemExpr>(part->value_) : nullptr;
      if (!item || !result || item->tuple_ != ir::ExprPtr(result->var_))
        fail(other->span_,
             kernel.name_ + " has a barrier that orders what blocks do; nothing stands beside it in pl.spmd");
      made.push_back(
          std::make_shared<const ir::AssignStmt>(part->var_, body.returned[size_t(item->index_)], other->span_));
    }
    return std::make_shared<const ir::SeqStmts>(std::move(made), blocks.span_);
  }

  const Kernels &kernels;
};

/// The kernels whose barriers order what blocks do. Throws where one of a function for one kind of core does.
Kernels orderedKernels(const ir::Program &program) {
  Kernels found;
  for (const ir::FunctionPtr &function : program.functions_) {
    if (!isKernel(*function) || !holdsBarrier(function->body_) || !Unit(function->body_).isOrdered())
      continue;
    if (function->func_type_ != ir::FunctionType::InCore)
      fail(function->span_, function->name_ +
                                " is a function for one kind of core whose barrier orders what blocks do; "
                                "leave the kind of core to the compiler");
    found[function->name_] = function;
  }
  return found;
}

} // namespace

ir::ProgramPtr lowerBlockBarriers(const ir::ProgramPtr &program) {
  if (llvm::none_of(program->functions_, [](const auto &function) { return holdsBarrier(function->body_); }))
    return program;
  Kernels kernels = orderedKernels(*program);
  Scopes scopes(kernels);
  ir::ProgramPtr cut = scopes.VisitProgram(program);
  auto made = std::make_shared<ir::Program>(*cut);
  llvm::erase_if(made->functions_, [&](const ir::FunctionPtr &function) {
    return scopes.inlined.count(function->name_) && !scopes.called.count(function->name_);
  });
  for (ir::FunctionPtr &function : made->functions_) {
    auto bare = std::make_shared<ir::Function>(*function);
    bare->body_ = BarrierRemover().VisitStmt(function->body_);
    function = bare;
  }
  return made;
}

} // namespace pto_mlir::pypto_frontend
