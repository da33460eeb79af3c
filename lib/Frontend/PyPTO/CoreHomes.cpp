// Homes follow from operations: products and the cube core's memories, and all else. Loops are walked until what they
// carry has settled.
#include "CoreHomes.h"

#include "LaneDivision.h"
#include "Plan.h"
#include "TileBuilder.h"
#include "TileNodes.h"

#include "pypto/ir/transforms/base/visitor.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

namespace pto_mlir::pypto_frontend {

bool isProductName(const std::string &op) {
  return llvm::StringRef(op).contains("matmul") || llvm::StringRef(op).contains("gemv");
}

namespace {

bool isValue(const ir::TypePtr &type) { return ir::IsA<ir::TensorType>(type) || ir::IsA<ir::TileType>(type); }

bool isOperation(const ir::Call &call) {
  llvm::StringRef name(call.op_->name_);
  return !ir::IsA<ir::GlobalVar>(call.op_) && (name.starts_with("tensor.") || name.starts_with("tile."));
}

class Namer : public ir::IRMutator {
public:
  ir::StmtPtr VisitStmt(const ir::StmtPtr &stmt) override {
    if (ir::IsA<ir::SeqStmts>(stmt))
      return ir::IRMutator::VisitStmt(stmt);
    std::vector<ir::StmtPtr> stmts;
    add(stmt, stmts);
    return stmts.size() == 1 ? stmts[0] : std::make_shared<const ir::SeqStmts>(std::move(stmts), stmt->span_);
  }

protected:
  ir::StmtPtr VisitStmt_(const ir::SeqStmtsPtr &op) override {
    std::vector<ir::StmtPtr> stmts;
    for (const ir::StmtPtr &stmt : ir::FlattenStmts(op))
      add(stmt, stmts);
    return std::make_shared<const ir::SeqStmts>(std::move(stmts), op->span_);
  }
  ir::ExprPtr VisitExpr_(const ir::CallPtr &op) override {
    bool stays = op == top;
    ir::ExprPtr made = ir::IRMutator::VisitExpr_(op);
    auto call = ir::As<ir::Call>(made);
    if (stays || !call || !isOperation(*call) || !isValue(call->type_))
      return made;
    auto var = std::make_shared<const ir::Var>("t", call->type_, call->span_);
    before.push_back(std::make_shared<const ir::AssignStmt>(var, call, call->span_));
    return var;
  }

private:
  void add(const ir::StmtPtr &stmt, std::vector<ir::StmtPtr> &stmts) {
    std::vector<ir::StmtPtr> outer = std::exchange(before, {});
    top = expressionOf(stmt);
    ir::StmtPtr made = ir::IRMutator::VisitStmt(stmt);
    llvm::append_range(stmts, before);
    stmts.push_back(made);
    before = std::move(outer);
  }
  std::vector<ir::StmtPtr> before;
  ir::ExprPtr top; ///< the value of the statement, which stays
};

/// Variables and numbers of cores that an expression reads.
class Reads : public ir::IRVisitor {
public:
  std::vector<const ir::Var *> vars;
  std::vector<ir::CallPtr> calls;

protected:
  void VisitExpr_(const ir::VarPtr &op) override { vars.push_back(op.get()); }
  void VisitExpr_(const ir::IterArgPtr &op) override { vars.push_back(op.get()); }
  void VisitExpr_(const ir::CallPtr &op) override {
    calls.push_back(op);
    ir::IRVisitor::VisitExpr_(op);
  }
};

Reads readsOf(const ir::ExprPtr &expr) {
  Reads reads;
  reads.VisitExpr(expr);
  return reads;
}

/// Values that anything but a product or a store reads: a cast that a store does is no vector operation for others.
class VectorReads : public ir::IRVisitor {
public:
  std::set<const ir::Var *> found;

protected:
  void VisitExpr_(const ir::CallPtr &op) override {
    const std::string &name = op->op_->name_;
    if (!isProductName(name) && name != "tensor.assemble" && name != "tile.store")
      for (const ir::ExprPtr &arg : op->args_)
        if (auto var = ir::As<ir::Var>(arg))
          found.insert(var.get());
    ir::IRVisitor::VisitExpr_(op);
  }
};

Home joined(Home a, Home b, const ir::Span &span) {
  if (a != Home::Both && b != Home::Both && a != b)
    fail(span, "a number of the cube core and one of a vector core meet here; each core computes with its own");
  return a == Home::Both ? b : a;
}

} // namespace

ir::StmtPtr withNamedOperations(const ir::StmtPtr &body) { return Namer().VisitStmt(body); }

CoreHomes::CoreHomes(const ir::StmtPtr &stmts) {
  accumulators.VisitStmt(stmts);
  VectorReads vectorReads;
  vectorReads.VisitStmt(stmts);
  readByVector = std::move(vectorReads.found);
  body(stmts, nullptr);
  if (!isMixed())
    return;
  if (problem)
    fail(problem->first, problem->second);
  checkMemory(stmts);
}

void CoreHomes::cannot(const ir::Span &span, std::string text) {
  if (!problem)
    problem.emplace(span, std::move(text));
}

Home CoreHomes::of(const ir::Var *var) const {
  auto found = homes.find(var);
  return found == homes.end() ? Home::Both : found->second;
}

Home CoreHomes::of(const ir::Stmt *stmt) const {
  auto found = places.find(stmt);
  return found == places.end() ? Home::Both : found->second;
}

ir::VarPtr CoreHomes::rootVar(const ir::VarPtr &var) const {
  ir::VarPtr root = var;
  for (auto found = parts.find(root.get()); found != parts.end(); found = parts.find(root.get()))
    root = found->second;
  return root;
}

const ir::Var *CoreHomes::rootOf(const ir::Var *var) const {
  auto found = parts.find(var);
  return found == parts.end() ? var : rootVar(found->second).get();
}

bool CoreHomes::writes(Home home, const ir::Var *var) const { return writers.count({home, rootOf(var)}) != 0; }

bool CoreHomes::uses(const ir::StmtPtr &stmt, Home home) const {
  class Uses : public ir::IRVisitor {
  public:
    Uses(const CoreHomes &homes, Home home) : homes(homes), home(home) {}
    bool found = false;

    void VisitStmt(const ir::StmtPtr &stmt) override {
      auto assign = ir::As<ir::AssignStmt>(stmt);
      bool takes = assign && homes.crosses(assign->var_.get());
      auto call = assign ? ir::As<ir::Call>(assign->value_) : nullptr;
      takes |= call && (isExchange(*call, "aiv_shard") || isExchange(*call, "aic_gather"));
      found |= homes.of(stmt.get()) == home || takes;
      ir::IRVisitor::VisitStmt(stmt);
    }

  private:
    const CoreHomes &homes;
    Home home;
  };
  Uses uses(*this, home);
  uses.VisitStmt(stmt);
  return uses.found;
}

/// What a core writes the other one must not read or write: nothing orders them but the values that they hand on.
void CoreHomes::checkMemory(const ir::StmtPtr &stmts) const {
  for (auto [home, var] : writers) {
    Home other = home == Home::Cube ? Home::Vector : Home::Cube;
    if (writers.count({other, var}) || readers.count({other, var}))
      fail(stmts->span_, var->name_hint_ + " is written by one kind of core and used by the other one in one kernel; " +
                             "hand the value on instead, or go on in a second scope");
  }
}

void CoreHomes::body(const ir::StmtPtr &stmts, std::vector<ir::ExprPtr> *yields) {
  for (const ir::StmtPtr &stmt : ir::FlattenStmts(stmts)) {
    auto yield = ir::As<ir::YieldStmt>(stmt);
    if (yield && yields)
      *yields = yield->value_;
    else
      statement(stmt);
  }
}

void CoreHomes::statement(const ir::StmtPtr &stmt) {
  if (auto op = ir::As<ir::AssignStmt>(stmt)) {
    assign(*op);
  } else if (auto op = ir::As<ir::EvalStmt>(stmt)) {
    auto value = ir::As<ir::Call>(op->expr_);
    places[stmt.get()] = value ? call(*value, nullptr) : Home::Both;
  } else if (auto op = ir::As<ir::ForStmt>(stmt)) {
    Home control = numbers(op->start_);
    for (const ir::ExprPtr &bound : {op->stop_, op->step_})
      control = joined(control, numbers(bound), stmt->span_);
    settle(op->loop_var_, control);
    loop(*op, control);
  } else if (auto op = ir::As<ir::WhileStmt>(stmt)) {
    loop(*op, Home::Both);
    if (numbers(op->condition_) != Home::Both)
      fail(stmt->span_, "the condition of this loop is known to one kind of core only");
  } else if (auto op = ir::As<ir::IfStmt>(stmt)) {
    branch(*op);
  } else if (auto op = ir::As<ir::SplitAivScopeStmt>(stmt)) {
    settle(op->lane_, Home::Vector);
    regions = inRegion = true;
    body(op->body_, nullptr);
    inRegion = false;
  } else if (!ir::IsA<ir::ReturnStmt>(stmt) && !ir::IsA<ir::BreakStmt>(stmt) && !ir::IsA<ir::ContinueStmt>(stmt)) {
    cannot(stmt->span_,
           std::string(ir::KindName(stmt->kind())) + " in a kernel of both kinds of core is not split yet");
  }
}

void CoreHomes::assign(const ir::AssignStmt &stmt) {
  Home home = Home::Both;
  auto value = ir::As<ir::Call>(stmt.value_);
  if (auto var = ir::As<ir::Var>(stmt.value_); var && isValue(var->type_)) {
    home = of(var.get());
    parts[stmt.var_.get()] = var;
  } else if (value && !ir::IsA<ir::ScalarType>(value->type_)) {
    home = call(*value, stmt.var_.get());
  } else {
    home = numbers(stmt.value_);
  }
  // A tensor that was stored to is in global memory, whoever stored.
  bool isStored = value && isValue(stmt.var_->type_) && parts.count(stmt.var_.get());
  settle(stmt.var_, isStored ? Home::Both : home);
  places[&stmt] = home;
}

/// The home of numbers: the join of what they follow from.
Home CoreHomes::numbers(const ir::ExprPtr &expr) {
  Home home = Home::Both;
  Reads found = readsOf(expr);
  for (const ir::Var *var : found.vars) {
    home = joined(home, of(var), expr->span_);
    if (!ir::IsA<ir::TensorType>(var->type_) || of(var) != Home::Both)
      continue;
    for (Home core : {Home::Cube, Home::Vector})
      if (writes(core, var))
        home = joined(home, core, expr->span_);
  }
  for (const ir::CallPtr &call : found.calls)
    if (call->op_->name_ == "tile.get_subblock_idx")
      home = joined(home, Home::Vector, expr->span_);
  return home;
}

/// A core that computes here reads the operands.
void CoreHomes::reads(const ir::ExprPtr &expr, Home home) {
  for (const ir::Var *var : readsOf(expr).vars) {
    Home held = of(var);
    if (held == Home::Both && ir::IsA<ir::TensorType>(var->type_))
      readers.insert({home, rootOf(var)});
    if (held == Home::Both || held == home)
      continue;
    if (!isValue(var->type_))
      fail(expr->span_, var->name_hint_ + " is a number that only the other kind of core has");
    if (inRegion)
      fail(expr->span_, var->name_hint_ + " is read in pl.split_aiv, but the cube core has it; use pl.aiv_shard");
    crossing.insert(var);
  }
}

Home CoreHomes::written(const ir::Call &call, const ir::VarPtr &target) {
  Home home = Home::Vector;
  for (const ir::ExprPtr &arg : call.args_)
    if (auto var = ir::As<ir::Var>(arg); var && var != target && of(var.get()) == Home::Cube)
      home = Home::Cube;
  for (const ir::ExprPtr &arg : call.args_)
    if (arg != ir::ExprPtr(target))
      reads(arg, home);
  writers.insert({home, rootOf(target.get())});
  return home;
}

Home CoreHomes::call(const ir::Call &call, const ir::Var *var) {
  const std::string &name = call.op_->name_;
  ir::OpView view(call);
  if (!view.row()) {
    cannot(call.span_, name + " in a kernel of both kinds of core is not split yet");
    return Home::Vector;
  }
  for (const char *operand : {"out", "target"}) {
    if (view.row()->Find(operand) < 0 || name == "comm.notify")
      continue;
    auto target = ir::As<ir::Var>(view.Operand(operand));
    if (!target || !ir::IsA<ir::TensorType>(target->type_) || of(target.get()) != Home::Both)
      continue;
    if (var)
      parts[var] = target;
    Home home = written(call, target);
    (home == Home::Cube ? hasCube : hasVector) = true;
    return home;
  }
  auto source = call.args_.empty() ? nullptr : ir::As<ir::Var>(call.args_[0]);
  bool isGlobal = source && ir::IsA<ir::TensorType>(source->type_) && of(source.get()) == Home::Both;
  if (isGlobal && isViewOfTensor(name)) {
    if (var)
      parts[var] = source;
    return Home::Both;
  }
  if (llvm::StringRef(name).starts_with("system.") || llvm::StringRef(name).starts_with("tile.tpush"))
    cannot(call.span_, name + " orders the cores by hand; in a kernel that is split, the values that they hand on do");
  Home home = Home::Vector;
  auto tile = ir::As<ir::TileType>(var ? var->type_ : call.type_);
  auto operandIs = [&](Home held) { return source && of(source.get()) == held; };
  if (isExchange(call, "aiv_shard") || isExchange(call, "aic_gather")) {
    bool shards = isExchange(call, "aiv_shard");
    if (!shards)
      checkJoined(view.Operand("x")->type_, *view.Enum<ir::SplitMode>("mode"), call.span_);
    if (!inRegion || !operandIs(shards ? Home::Cube : Home::Vector))
      fail(call.span_, name + " takes a value of the " + (shards ? "cube core" : "vector cores") +
                           " in pl.split_aiv; give it one that is computed there");
    (shards ? hasVector : hasCube) = true;
    return shards ? Home::Vector : Home::Cube;
  }
  if (name == "tensor.create_tensor") {
    home = var && accumulators.has(var) ? Home::Cube : Home::Vector;
  } else if (name == "tensor.cast") {
    bool isStores = narrowsProduct(view) && operandIs(Home::Cube) && var && !readByVector.count(var);
    home = isStores ? Home::Cube : Home::Vector;
  } else if (isProductName(name)) {
    home = Home::Cube;
  } else if (tile && tile->GetMemorySpace().value_or(ir::MemorySpace::Vec) != ir::MemorySpace::Vec) {
    home = Home::Cube;
  } else if (!tile && !ir::IsA<ir::TensorType>(call.type_) && operandIs(Home::Cube)) {
    home = Home::Cube; // what is done to a value of the cube core
  }
  for (const ir::ExprPtr &arg : call.args_)
    reads(arg, home);
  if (home == Home::Cube && inRegion)
    cannot(call.span_, name + " is the cube core's; in pl.split_aiv stands what the vector cores do");
  (home == Home::Cube ? hasCube : hasVector) = true;
  return home;
}

template <class Loop> void CoreHomes::loop(const Loop &stmt, Home control) {
  for (const ir::IterArgPtr &arg : stmt.iter_args_) {
    auto initial = ir::As<ir::Var>(arg->initValue_);
    Home home = isValue(arg->type_) ? (initial ? of(initial.get()) : Home::Both) : numbers(arg->initValue_);
    if (isValue(arg->type_) && home == Home::Both && initial)
      parts[arg.get()] = initial;
    settle(arg, accumulators.has(arg.get()) ? Home::Cube : home);
  }
  bool settled = false;
  for (int round = 0; !settled && round < 4; ++round) {
    std::vector<ir::ExprPtr> yields;
    body(stmt.body_, &yields);
    settled = true;
    for (size_t i = 0; i < yields.size() && i < stmt.iter_args_.size(); ++i) {
      const ir::IterArgPtr &arg = stmt.iter_args_[i];
      auto var = ir::As<ir::Var>(yields[i]);
      Home home = isValue(arg->type_) ? (var ? of(var.get()) : Home::Both)
                                      : joined(of(arg.get()), numbers(yields[i]), stmt.span_);
      settled &= home == of(arg.get());
      settle(arg, home);
    }
  }
  if (!settled)
    fail(stmt.span_, "what this loop carries changes between the cube core and the vector cores in each iteration");
  for (size_t i = 0; i < stmt.iter_args_.size(); ++i) {
    const ir::IterArgPtr &arg = stmt.iter_args_[i];
    if (isValue(arg->type_) && of(arg.get()) != Home::Both)
      reads(arg->initValue_, of(arg.get()));
    settle(stmt.return_vars_[i], of(arg.get()));
    parts[stmt.return_vars_[i].get()] = arg;
  }
  places[&stmt] = control;
}

void CoreHomes::branch(const ir::IfStmt &stmt) {
  Home control = numbers(stmt.condition_);
  std::vector<ir::ExprPtr> arms[2];
  body(stmt.then_body_, &arms[0]);
  if (stmt.else_body_)
    body(*stmt.else_body_, &arms[1]);
  for (size_t i = 0; i < stmt.return_vars_.size(); ++i) {
    const ir::VarPtr &result = stmt.return_vars_[i];
    Home home = isValue(result->type_) ? Home::Both : control;
    for (const std::vector<ir::ExprPtr> &yields : arms)
      if (i < yields.size()) {
        auto var = ir::As<ir::Var>(yields[i]);
        if (isValue(result->type_) && var && of(var.get()) == Home::Both)
          parts[result.get()] = var;
        home = joined(home, isValue(result->type_) ? (var ? of(var.get()) : home) : numbers(yields[i]), stmt.span_);
      }
    settle(result, home);
  }
  places[&stmt] = control;
}

} // namespace pto_mlir::pypto_frontend
