// What is known about variables of a body without lowering it.
#include "Plan.h"

#include "TileNodes.h"

#include "pypto/ir/op_registry.h"
#include "pypto/ir/transforms/base/visitor.h"
#include "llvm/ADT/STLExtras.h"

#include <set>

namespace pto_mlir::pypto_frontend {

namespace ir = pypto::ir;

namespace {

/// The tensor that a call writes; null where it writes none.
ir::ExprPtr writtenBy(const ir::Call &call) {
  ir::OpView view(call);
  if (view.row() && view.row()->name.starts_with("comm."))
    for (const char *name : {"dst", "target", "signal"})
      if (view.row()->Find(name) >= 0)
        return view.Operand(name);
  if (view.row() && view.row()->name == "tensor.write")
    return view.Operand("x");
  // Their target only says the shape.
  if (llvm::is_contained({"tensor.row_expand", "tensor.col_expand", "tensor.expands"}, call.op_->name_))
    return nullptr;
  for (const char *name : {"out", "target"})
    if (view.row() && view.row()->Find(name) >= 0)
      return view.Operand(name);
  return nullptr;
}

class WriteCollector : public ir::IRVisitor {
public:
  std::vector<ir::VarPtr> found;

protected:
  void VisitExpr_(const ir::CallPtr &op) override {
    if (auto var = ir::As<ir::Var>(writtenBy(*op)); var && ir::IsA<ir::TensorType>(var->type_))
      found.push_back(var);
    ir::IRVisitor::VisitExpr_(op);
  }
};

class ReadCollector : public ir::IRVisitor {
public:
  std::vector<ir::VarPtr> found;

protected:
  void VisitExpr_(const ir::CallPtr &op) override {
    ir::ExprPtr written = writtenBy(*op);
    for (const ir::ExprPtr &argument : op->args_)
      if (auto var = ir::As<ir::Var>(argument);
          var && argument != written && ir::IsA<ir::TensorType>(var->type_) && op->op_->name_ != "tensor.dim")
        found.push_back(var);
    ir::IRVisitor::VisitExpr_(op);
  }
};

/// Elements that become something of what they were: signals, and targets of reductions and of atomic additions.
class UpdateCollector : public ir::IRVisitor {
public:
  std::vector<ir::VarPtr> found;

protected:
  void VisitExpr_(const ir::CallPtr &op) override {
    ir::OpView view(*op);
    if (isInPlace(view))
      add(writtenBy(*op));
    if (view.row() && view.row()->name.starts_with("comm.") && view.row()->Find("signal") >= 0)
      add(view.Operand("signal"));
    ir::IRVisitor::VisitExpr_(op);
  }

private:
  static bool isInPlace(const ir::OpView &view) {
    const auto *row = view.row();
    if (!row)
      return false;
    if (row->Find("atomic") >= 0)
      return view.Enum<ir::AtomicType>("atomic") == ir::AtomicType::Add;
    if (row->name == "comm.notify")
      return view.Enum<ir::NotifyOp>("op") == ir::NotifyOp::AtomicAdd;
    return isOfTarget(*row);
  }
  /// A collective without another tensor: what the target becomes follows from what it was.
  static bool isOfTarget(const ir::OpRow &row) {
    return row.name.starts_with("comm.") && row.like == "target" &&
           llvm::all_of(row.params, [](const ir::OpParam &param) {
             return !param.operand || param.name == "target" || param.name == "signal";
           });
  }
  void add(const ir::ExprPtr &operand) {
    if (auto var = ir::As<ir::Var>(operand); var && ir::IsA<ir::TensorType>(var->type_))
      found.push_back(var);
  }
};

class RootCollector : public ir::IRVisitor {
public:
  TensorRoots roots;

protected:
  void VisitStmt_(const ir::AssignStmtPtr &op) override {
    auto call = ir::As<ir::Call>(op->value_);
    if (call && ir::IsA<ir::ArrayType>(op->var_->type_)) {
      if (call->op_->name_ == "array.update_element")
        alias(op->var_.get(), call->args_[0]);
    } else if (call && ir::IsA<ir::TensorType>(op->var_->type_)) {
      if (ir::ExprPtr written = writtenBy(*call))
        alias(op->var_.get(), written);
      else if (call->op_->name_ == "tensor.view")
        alias(op->var_.get(), call->args_[0]);
    } else {
      alias(op->var_.get(), op->value_);
    }
  }
  void VisitStmt_(const ir::ForStmtPtr &op) override { loop(op->iter_args_, op->return_vars_, op->body_); }
  void VisitStmt_(const ir::WhileStmtPtr &op) override { loop(op->iter_args_, op->return_vars_, op->body_); }
  void VisitStmt_(const ir::IfStmtPtr &op) override {
    VisitStmt(op->then_body_);
    ir::YieldStmtPtr yield = std::exchange(yielded, nullptr);
    if (op->else_body_)
      VisitStmt(*op->else_body_);
    yielded = nullptr;
    for (size_t i = 0; yield && i < op->return_vars_.size() && i < yield->value_.size(); ++i)
      alias(op->return_vars_[i].get(), yield->value_[i]);
  }
  void VisitStmt_(const ir::YieldStmtPtr &op) override { yielded = op; }

private:
  void alias(const ir::Var *var, const ir::ExprPtr &value) {
    auto other = ir::As<ir::Var>(value);
    if (other && (ir::IsA<ir::TensorType>(other->type_) || ir::IsA<ir::ArrayType>(other->type_)))
      roots[var] = other.get();
  }
  void loop(const std::vector<ir::IterArgPtr> &carried, const std::vector<ir::VarPtr> &results,
            const ir::StmtPtr &body) {
    for (const ir::IterArgPtr &arg : carried)
      alias(arg.get(), arg->initValue_);
    VisitStmt(body);
    yielded = nullptr;
    for (size_t i = 0; i < carried.size() && i < results.size(); ++i)
      alias(results[i].get(), carried[i]);
  }
  ir::YieldStmtPtr yielded;
};

class FreeCollector : public ir::IRVisitor {
public:
  std::vector<ir::VarPtr> found;

protected:
  void VisitExpr_(const ir::VarPtr &op) override { use(op); }
  void VisitExpr_(const ir::IterArgPtr &op) override { use(op); }
  void VisitDef(const ir::VarPtr &var) override {
    if (auto arg = ir::As<ir::IterArg>(var))
      VisitExpr(arg->initValue_);
    seen.insert(var.get());
  }
  void VisitStmt_(const ir::AssignStmtPtr &op) override {
    VisitExpr(op->value_);
    VisitDef(op->var_);
  }

private:
  void use(const ir::VarPtr &var) {
    if (seen.insert(var.get()).second)
      found.push_back(var);
  }
  std::set<const ir::Var *> seen;
};

/// Variables that are bound in one statement and read outside of it.
class EscapeCollector : public ir::IRVisitor {
public:
  explicit EscapeCollector(const ir::StmtPtr &scope) : scope(scope) {}
  std::vector<ir::VarPtr> bound;
  std::set<const ir::Var *> read;

  void VisitStmt(const ir::StmtPtr &stmt) override {
    bool enters = stmt == scope;
    inside |= enters;
    ir::IRVisitor::VisitStmt(stmt);
    if (enters)
      inside = false;
  }

protected:
  void VisitExpr_(const ir::VarPtr &op) override { use(op.get()); }
  void VisitExpr_(const ir::IterArgPtr &op) override { use(op.get()); }
  void VisitDef(const ir::VarPtr &var) override {
    if (auto arg = ir::As<ir::IterArg>(var))
      VisitExpr(arg->initValue_);
    if (inside)
      bound.push_back(var);
  }

private:
  void use(const ir::Var *var) {
    if (!inside)
      read.insert(var);
  }
  ir::StmtPtr scope;
  bool inside = false;
};

} // namespace

std::vector<ir::VarPtr> escapingVariables(const ir::StmtPtr &scope, const ir::StmtPtr &whole) {
  EscapeCollector collector(scope);
  collector.VisitStmt(whole);
  std::erase_if(collector.bound, [&](const ir::VarPtr &var) { return !collector.read.count(var.get()); });
  return std::move(collector.bound);
}

std::vector<ir::VarPtr> escapingTensors(const ir::StmtPtr &scope, const ir::StmtPtr &whole) {
  std::vector<ir::VarPtr> escaping = escapingVariables(scope, whole);
  std::erase_if(escaping, [](const ir::VarPtr &var) { return !ir::IsA<ir::TensorType>(var->type_); });
  return escaping;
}

TensorRoots tensorRoots(const ir::StmtPtr &body) {
  RootCollector collector;
  collector.VisitStmt(body);
  return std::move(collector.roots);
}

namespace {

/// The tensors that views are parts of.
class ViewCollector : public ir::IRVisitor {
public:
  explicit ViewCollector(TensorRoots &roots) : roots(roots) {}

protected:
  void VisitStmt_(const ir::AssignStmtPtr &op) override {
    auto call = ir::As<ir::Call>(op->value_);
    if (!call || !isViewOfTensor(call->op_->name_))
      return;
    if (auto whole = ir::As<ir::Var>(call->args_[0]))
      roots.emplace(op->var_.get(), whole.get());
  }

private:
  TensorRoots &roots;
};

} // namespace

TensorRoots viewRoots(const ir::StmtPtr &body) {
  TensorRoots roots = tensorRoots(body);
  ViewCollector(roots).VisitStmt(body);
  return roots;
}

/// The roots of what a collector finds.
template <typename Collector> static std::set<const ir::Var *> foundRoots(const ir::StmtPtr &body) {
  Collector collector;
  collector.VisitStmt(body);
  TensorRoots roots = viewRoots(body);
  std::set<const ir::Var *> found;
  for (const ir::VarPtr &var : collector.found)
    found.insert(rootOf(roots, var.get()));
  return found;
}

std::set<const ir::Var *> writtenTensors(const ir::StmtPtr &body) { return foundRoots<WriteCollector>(body); }

std::set<const ir::Var *> readTensors(const ir::StmtPtr &body) { return foundRoots<ReadCollector>(body); }

std::set<const ir::Var *> updatedTensors(const ir::StmtPtr &body) { return foundRoots<UpdateCollector>(body); }

const ir::Var *rootOf(const TensorRoots &roots, const ir::Var *var) {
  for (auto found = roots.find(var); found != roots.end(); found = roots.find(var))
    var = found->second;
  return var;
}

std::vector<ir::VarPtr> freeVariables(const ir::StmtPtr &body) {
  FreeCollector collector;
  collector.VisitStmt(body);
  return std::move(collector.found);
}

} // namespace pto_mlir::pypto_frontend
