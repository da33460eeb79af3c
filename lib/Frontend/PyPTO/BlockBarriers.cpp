#include "BlockBarriers.h"

#include "Plan.h"
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

bool isBarrier(const ir::StmtPtr &stmt) {
  auto call = ir::As<ir::Call>(expressionOf(stmt));
  return call && call->op_->name_ == "system.syncall";
}

/// The barriers of a statement.
class BarrierFinder : public ir::IRVisitor {
public:
  std::vector<ir::CallPtr> found;

protected:
  void VisitExpr_(const ir::CallPtr &op) override {
    if (op->op_->name_ == "system.syncall")
      found.push_back(op);
    ir::IRVisitor::VisitExpr_(op);
  }
};

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

/// The tensors that views are parts of.
class ViewCollector : public ir::IRVisitor {
public:
  TensorRoots roots;

protected:
  void VisitStmt_(const ir::AssignStmtPtr &op) override {
    auto call = ir::As<ir::Call>(op->value_);
    if (!call || !isViewOfTensor(call->op_->name_))
      return;
    if (auto whole = ir::As<ir::Var>(call->args_[0]))
      roots[op->var_.get()] = whole.get();
  }
};

/// What a block runs.
class Unit {
public:
  explicit Unit(const ir::StmtPtr &body) : body(body), roots(tensorRoots(body)) {
    ViewCollector views;
    views.VisitStmt(body);
    roots.insert(views.roots.begin(), views.roots.end());
    for (const ir::VarPtr &var : freeVariables(body))
      shared.insert(var.get());
  }

  /// The body without barriers.
  ir::StmtPtr withoutBarriers() const {
    std::vector<ir::StmtPtr> stmts = ir::FlattenStmts(body);
    for (size_t i = 0; i < stmts.size(); ++i) {
      BarrierFinder barriers;
      barriers.VisitStmt(stmts[i]);
      // What holds a barrier is in front of it and behind it.
      if (!barriers.found.empty())
        check({stmts.begin(), stmts.begin() + long(i) + 1}, {stmts.begin() + long(i), stmts.end()},
              barriers.found.front()->span_);
    }
    return BarrierRemover().VisitStmt(body);
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
  void check(const std::vector<ir::StmtPtr> &front, const std::vector<ir::StmtPtr> &behind,
             const ir::Span &span) const {
    Accesses before = accessesOf(front), after = accessesOf(behind);
    for (const ir::Var *tensor : shared)
      if ((before.written.count(tensor) && (after.read.count(tensor) || after.written.count(tensor))) ||
          (before.read.count(tensor) && after.written.count(tensor)))
        fail(span,
             "a barrier that orders what blocks do with " + tensor->name_hint_ +
                 " is not lowered yet, since blocks run one after another; make what is behind it a second scope");
  }

  ir::StmtPtr body;
  TensorRoots roots;
  Tensors shared; ///< that are not made by the block
};

/// Scopes of blocks, and kernels.
class Units : public ir::IRMutator {
public:
  ir::FunctionPtr VisitFunction(const ir::FunctionPtr &function) override {
    BarrierFinder barriers;
    barriers.VisitStmt(function->body_);
    if (barriers.found.empty())
      return function;
    if (function->func_type_ == ir::FunctionType::AIC || function->func_type_ == ir::FunctionType::AIV)
      fail(barriers.found.front()->span_, "a barrier of a function for one kind of core is not lowered yet; leave the "
                                          "kind of core to the compiler");
    ir::FunctionPtr scoped = ir::IRMutator::VisitFunction(function);
    auto made = std::make_shared<ir::Function>(*scoped);
    made->body_ = Unit(scoped->body_).withoutBarriers();
    return made;
  }

protected:
  ir::StmtPtr VisitScopeStmt_(const ir::ScopeStmtPtr &op) override {
    ir::StmtPtr inner = ir::IRMutator::VisitScopeStmt_(op);
    auto blocks = ir::As<ir::SpmdScopeStmt>(inner);
    if (!blocks)
      return inner;
    auto made = std::make_shared<ir::SpmdScopeStmt>(*blocks);
    if (ir::InCoreScopeStmtPtr kernel = ir::KernelOfBlocks(*blocks)) {
      auto bare = std::make_shared<ir::InCoreScopeStmt>(*kernel);
      bare->body_ = Unit(kernel->body_).withoutBarriers();
      made->body_ = bare;
    } else {
      made->body_ = Unit(blocks->body_).withoutBarriers();
    }
    return made;
  }
};

} // namespace

ir::ProgramPtr dropBlockBarriers(const ir::ProgramPtr &program) {
  BarrierFinder barriers;
  for (const ir::FunctionPtr &function : program->functions_)
    barriers.VisitStmt(function->body_);
  return barriers.found.empty() ? program : Units().VisitProgram(program);
}

} // namespace pto_mlir::pypto_frontend
