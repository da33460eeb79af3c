// Scopes of products and vector operations on tensors: one kernel for each run of statements of one kind of core.
#include "TensorsToTiles.h"

#include "Plan.h"

#include "pypto/ir/op_registry.h"
#include "pypto/ir/transforms/base/mutator.h"
#include "pypto/ir/transforms/base/visitor.h"
#include "llvm/ADT/STLExtras.h"

#include <set>

namespace pto_mlir::pypto_frontend {

namespace ir = pypto::ir;

namespace {

bool isProduct(const ir::Call &call) {
  return call.op_->name_ == "tensor.matmul" || call.op_->name_ == "tensor.matmul_acc";
}

/// The product that a cast narrows as its store would, else null.
const ir::Var *narrowed(const ir::StmtPtr &stmt) {
  auto assign = ir::As<ir::AssignStmt>(stmt);
  auto call = assign ? ir::As<ir::Call>(assign->value_) : nullptr;
  if (!call || call->op_->name_ != "tensor.cast")
    return nullptr;
  ir::OpView view(*call);
  auto target = view.Keyword<pypto::DataType>("target_type");
  bool isNarrow = target == pypto::DataType::BF16 || target == pypto::DataType::FP16;
  auto var = ir::As<ir::Var>(view.Operand("x"));
  return view.Keyword<std::string>("mode") == "rint" && isNarrow && var ? var.get() : nullptr;
}

/// What the operations on tensors below a statement need.
class Cores : public ir::IRVisitor {
public:
  bool cube = false, vector = false, stores = false;

protected:
  void VisitExpr_(const ir::CallPtr &op) override {
    const std::string &name = op->op_->name_;
    bool moves = llvm::is_contained({"tensor.slice", "tensor.assemble", "tensor.dim", "tensor.read"}, name);
    cube |= isProduct(*op);
    vector |= name.starts_with("tensor.") && !moves && !isProduct(*op);
    vector |= name.starts_with("tile.") && name != "tile.store";
    stores |= name == "tensor.assemble" || name == "tensor.read" || name.starts_with("tile.");
    ir::IRVisitor::VisitExpr_(op);
  }
};

/// Products inside other calls as statements of their own.
class ProductHoister : public ir::IRMutator {
public:
  std::vector<ir::StmtPtr> before;
  ir::ExprPtr top; ///< the value of the statement, which stays

protected:
  ir::ExprPtr VisitExpr_(const ir::CallPtr &op) override {
    bool stays = op == top;
    ir::ExprPtr made = ir::IRMutator::VisitExpr_(op);
    auto call = ir::As<ir::Call>(made);
    if (stays || !call || !isProduct(*call))
      return made;
    auto var = std::make_shared<const ir::Var>("product", call->type_, call->span_);
    before.push_back(std::make_shared<const ir::AssignStmt>(var, call, call->span_));
    return var;
  }
};

/// Whether a body launches kernels, and computes nothing itself.
bool launches(const ir::StmtPtr &body) {
  return llvm::all_of(ir::FlattenStmts(body), [](const ir::StmtPtr &stmt) {
    if (ir::IsA<ir::InCoreScopeStmt>(stmt) || ir::IsA<ir::SpmdScopeStmt>(stmt))
      return true;
    auto assign = ir::As<ir::AssignStmt>(stmt);
    auto eval = ir::As<ir::EvalStmt>(stmt);
    ir::ExprPtr value = assign ? assign->value_ : eval ? eval->expr_ : nullptr;
    auto call = ir::As<ir::Call>(value);
    return value && (ir::IsA<ir::TupleGetItemExpr>(value) || (call && ir::IsA<ir::GlobalVar>(call->op_)));
  });
}

class Splitter : public ir::IRMutator {
protected:
  /// What blocks compute becomes a kernel.
  ir::StmtPtr VisitStmt_(const ir::SpmdScopeStmtPtr &op) override {
    if (launches(op->body_))
      return ir::IRMutator::VisitStmt_(op);
    auto scope =
        std::make_shared<const ir::InCoreScopeStmt>(op->body_, op->name_hint_, std::nullopt, op->attrs_, op->span_);
    return std::make_shared<const ir::SpmdScopeStmt>(op->core_num_, op->sync_start_, VisitStmt(scope), op->name_hint_,
                                                     op->attrs_, op->span_);
  }
  ir::StmtPtr VisitStmt_(const ir::InCoreScopeStmtPtr &op) override {
    Cores cores;
    cores.VisitStmt(op->body_);
    return cores.cube && (cores.vector || hasChain(*op)) ? split(*op) : op;
  }

private:
  using Stmts = std::vector<ir::StmtPtr>;

  static Stmts hoisted(const ir::StmtPtr &body) {
    Stmts stmts;
    for (const ir::StmtPtr &stmt : ir::FlattenStmts(body)) {
      ProductHoister hoister;
      if (auto assign = ir::As<ir::AssignStmt>(stmt))
        hoister.top = assign->value_;
      bool isPlain = ir::IsA<ir::AssignStmt>(stmt) || ir::IsA<ir::EvalStmt>(stmt);
      ir::StmtPtr made = isPlain ? hoister.VisitStmt(stmt) : stmt;
      stmts.insert(stmts.end(), hoister.before.begin(), hoister.before.end());
      stmts.push_back(made);
    }
    return stmts;
  }

  /// Whether a product reads another one of the scope.
  static bool hasChain(const ir::InCoreScopeStmt &scope) {
    std::set<const ir::Var *> products;
    for (const ir::StmtPtr &stmt : hoisted(scope.body_)) {
      if (isProductStmt(stmt) && readsProduct(stmt, products))
        return true;
      addProduct(stmt, products);
    }
    return false;
  }
  /// Whether a statement multiplies one of `products`; adding to one is no chain.
  static bool readsProduct(const ir::StmtPtr &stmt, const std::set<const ir::Var *> &products) {
    auto assign = ir::As<ir::AssignStmt>(stmt);
    auto call = assign ? ir::As<ir::Call>(assign->value_) : nullptr;
    bool adds = call && call->op_->name_ == "tensor.matmul_acc";
    std::vector<ir::VarPtr> read = freeVariables(stmt);
    return llvm::any_of(read, [&](const ir::VarPtr &var) {
      return products.count(var.get()) && !(adds && call->args_[0] == ir::ExprPtr(var));
    });
  }
  static bool isProductStmt(const ir::StmtPtr &stmt) {
    auto assign = ir::As<ir::AssignStmt>(stmt);
    auto call = assign ? ir::As<ir::Call>(assign->value_) : nullptr;
    return call && isProduct(*call);
  }
  static void addProduct(const ir::StmtPtr &stmt, std::set<const ir::Var *> &products) {
    auto assign = ir::As<ir::AssignStmt>(stmt);
    auto call = assign ? ir::As<ir::Call>(assign->value_) : nullptr;
    if (call && (isProduct(*call) || products.count(narrowed(stmt))))
      products.insert(assign->var_.get());
  }

  ir::StmtPtr split(const ir::InCoreScopeStmt &scope) {
    Stmts result, run;
    std::set<const ir::Var *> products; // of `run`, narrowed ones too
    std::set<const ir::Var *> bound;    // by `run`
    bool isCube = false;
    auto close = [&] {
      if (run.empty())
        return;
      ir::StmtPtr body = std::make_shared<const ir::SeqStmts>(std::move(run), scope.span_);
      result.push_back(
          std::make_shared<const ir::InCoreScopeStmt>(body, scope.name_hint_, std::nullopt, scope.attrs_, scope.span_));
      run.clear();
      bound.clear();
      products.clear();
    };
    for (const ir::StmtPtr &stmt : hoisted(scope.body_)) {
      Cores cores;
      cores.VisitStmt(stmt);
      bool readsRun = llvm::any_of(freeVariables(stmt), [&](const ir::VarPtr &var) { return bound.count(var.get()); });
      auto assign = ir::As<ir::AssignStmt>(stmt);
      if (!cores.cube && !cores.vector && !cores.stores && assign && !readsRun) {
        result.push_back(stmt); // numbers and views, which the orchestrator has as well
        continue;
      }
      if (products.count(narrowed(stmt)))
        cores.cube = true;
      bool decides = cores.cube || cores.vector;
      bool isChain = isProductStmt(stmt) && readsProduct(stmt, products);
      if (decides && !run.empty() && (cores.cube != isCube || isChain))
        close();
      if (decides || run.empty())
        isCube = cores.cube;
      run.push_back(stmt);
      addProduct(stmt, products);
      if (assign)
        bound.insert(assign->var_.get());
    }
    close();
    return std::make_shared<const ir::SeqStmts>(std::move(result), scope.span_);
  }
};

} // namespace

ir::FunctionPtr splitMixedScopes(const ir::FunctionPtr &orchestrator) { return Splitter().VisitFunction(orchestrator); }

} // namespace pto_mlir::pypto_frontend
