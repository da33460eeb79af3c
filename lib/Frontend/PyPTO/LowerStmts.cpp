// Statements. Tiles that loops and branches hand on lie in one buffer: no op carries a tile.
#include "Lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "pto_mlir/Dialect/PTO/IR/Tiles.h"
#include "pto_mlir/Target/Cpp/Cpp.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;

namespace pto_mlir::pypto_frontend {

/// The first variable of a value names it.
void Lowering::nameAfter(const ir::VarPtr &var, Value value) {
  if (!options.names || !value || var->name_hint_.empty() || llvm::isa<NameLoc>(value.getLoc()))
    return;
  Operation *op = value.getDefiningOp();
  if (op && llvm::isa<arith::ConstantOp>(op) && !op->hasAttr(cpp::kVariableAttr))
    return; // shared by all who read the number
  value.setLoc(NameLoc::get(b.getStringAttr(var->name_hint_), value.getLoc()));
}

void Lowering::bind(const ir::VarPtr &var, Value value) {
  values[var.get()] = value;
  nameAfter(var, value);
  boundIn[var.get()] = b.getBlock();
}

void Lowering::VisitStmt_(const ir::AssignStmtPtr &op) {
  at(op->span_);
  if (isScalar(op->var_) != ir::IsA<ir::ScalarType>(op->value_->type_) && !ir::IsA<ir::UnknownType>(op->value_->type_))
    fail(op->span_, op->var_->name_hint_ + " gets a value of another kind");
  auto call = ir::As<ir::Call>(op->value_);
  auto hold = [&](Value value) {
    if (isTile(op->var_))
      ++holders[pto::getAliasRoot(value)];
    bind(op->var_, value);
  };
  if (call && !ir::IsA<ir::Submit>(op->value_)) {
    Value value = lowerCall(call, op->var_);
    if (!value)
      fail(op->span_, call->op_->name_ + " has no result");
    hold(value);
  } else {
    Value value = valueOf(op->value_);
    auto *made = value.getDefiningOp();
    if (options.names && made && llvm::isa<arith::ConstantOp>(made)) {
      Operation *own = b.clone(*made);
      own->setLoc(loc);
      own->setAttr(cpp::kVariableAttr, b.getUnitAttr());
      hold(own->getResult(0));
      return;
    }
    if (auto type = ir::As<ir::ScalarType>(op->var_->type_))
      value = scalarOf(op->value_, scalarType(*b.getContext(), type->dtype_));
    hold(value);
  }
}

void Lowering::VisitStmt_(const ir::EvalStmtPtr &op) {
  at(op->span_);
  auto call = ir::As<ir::Call>(op->expr_);
  if (!call || ir::IsA<ir::Submit>(op->expr_))
    fail(op->span_, "only a call is a statement of a kernel");
  lowerCall(call, nullptr);
}

void Lowering::VisitStmt_(const ir::ReturnStmtPtr &op) {
  for (const ir::ExprPtr &value : op->value_)
    if (!ir::IsA<ir::TensorType>(value->type_))
      fail(value->span_, "a kernel gives back its results in tensors; store this value");
}

void Lowering::VisitStmt_(const ir::YieldStmtPtr &op) { yielded = op; }

void Lowering::VisitStmt_(const ir::BreakStmtPtr &op) { fail(op->span_, "break outside of a loop"); }
void Lowering::VisitStmt_(const ir::ContinueStmtPtr &op) { fail(op->span_, "continue outside of a loop"); }

void Lowering::VisitScopeStmt_(const ir::ScopeStmtPtr &op) {
  fail(op->span_, std::string(ir::KindName(op->kind())) + " inside a kernel: scopes belong to an orchestrator");
}

void Lowering::lowerBody(const ir::StmtPtr &body, const Carried &carried, Values &scalars) {
  yielded = nullptr;
  VisitStmt(body);
  moveYielded(std::exchange(yielded, nullptr), carried, scalars);
}

void Lowering::bindResults(const std::vector<ir::VarPtr> &vars, const Carried &carried, ValueRange scalars) {
  size_t next = 0;
  for (auto [var, tile] : llvm::zip_equal(vars, carried.buffers))
    bind(var, tile ? tile : scalars[next++]);
}

/// The tensor that the first arm gives for a result: what it has stored to, say. The other arm must give the same.
Value Lowering::tensorOf(const ir::IfStmt &branch, size_t result) {
  std::vector<ir::StmtPtr> stmts = ir::FlattenStmts(branch.then_body_);
  auto yield = stmts.empty() ? nullptr : ir::As<ir::YieldStmt>(stmts.back());
  auto var = yield && result < yield->value_.size() ? ir::As<ir::Var>(yield->value_[result]) : nullptr;
  Value tensor = var ? values.lookup(rootOf(tensorRoots(branch.then_body_), var.get())) : Value();
  if (!tensor)
    fail(branch.span_, "a kernel cannot choose between tensors");
  return tensor;
}

void Lowering::VisitStmt_(const ir::IfStmtPtr &op) {
  Value condition = scalarOf(op->condition_, b.getI1Type());
  at(op->span_);
  Carried carried;
  SmallVector<Type> types;
  for (const ir::VarPtr &var : op->return_vars_) {
    carried.vars.push_back(var);
    Value tile;
    if (isScalar(var))
      types.push_back(scalarType(*b.getContext(), *ir::ElementTypeOf(var->type_)));
    else if (isTile(var))
      tile = ir::As<ir::TileType>(var->type_)->OwnBuffer() ? Value() : wanted.lookup(var.get());
    else
      tile = tensorOf(*op, carried.vars.size() - 1);
    if (isTile(var) && !tile) {
      tile = buffer(ir::As<ir::TileType>(var->type_), var.get());
      nameAfter(var, tile);
    }
    carried.buffers.push_back(tile);
  }
  if (!op->return_vars_.empty() && !op->else_body_)
    fail(op->span_, "an if that gives values needs an else");
  auto branch = b.create<scf::IfOp>(loc, types, condition, op->else_body_.has_value());
  auto before = replaced, after = replaced; // what one arm replaces is there for the other one
  auto arm = [&](Block *block, const ir::StmtPtr &body) {
    replaced = before;
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(block);
    if (!block->empty() && block->back().hasTrait<OpTrait::IsTerminator>())
      block->back().erase();
    writeInto(body, carried);
    Values scalars;
    lowerBody(body, carried, scalars);
    b.create<scf::YieldOp>(loc, scalars);
    after.insert(replaced.begin(), replaced.end());
  };
  arm(branch.thenBlock(), op->then_body_);
  if (op->else_body_)
    arm(branch.elseBlock(), *op->else_body_);
  replaced = after;
  bindResults(op->return_vars_, carried, branch.getResults());
}

void Lowering::VisitStmt_(const ir::ForStmtPtr &op) {
  if (auto step = ir::ConstantInt(op->step_); step && *step <= 0)
    fail(op->span_, "a loop of a kernel needs a positive step, not " + std::to_string(*step));
  if (jumps(op->body_)) {
    lowerLeavable(op);
    return;
  }
  Values initial;
  Value start = indexOf(op->start_), stop = indexOf(op->stop_), step = indexOf(op->step_);
  Carried carried = carriedBy(op->iter_args_, op->return_vars_, initial);
  at(op->span_);
  auto loop = b.create<scf::ForOp>(loc, start, stop, step, initial);
  {
    OpBuilder::InsertionGuard guard(b);
    Block *body = loop.getBody();
    if (!body->empty())
      body->back().erase();
    b.setInsertionPointToEnd(body);
    Type type = scalarType(*b.getContext(), *ir::ElementTypeOf(op->loop_var_->type_));
    bind(op->loop_var_, convert(loop.getInductionVar(), type, true));
    bindResults({op->iter_args_.begin(), op->iter_args_.end()}, carried, loop.getRegionIterArgs());
    writeInto(op->body_, carried);
    Values scalars;
    const ir::Attr *stage = op->kind_ == ir::ForKind::Pipeline ? ir::FindAttr(op->attrs_, "pipeline_stages") : nullptr;
    const auto *stages = stage ? std::get_if<int64_t>(stage) : nullptr;
    if (stages && *stages > 1)
      stagesOfTurns[body] = *stages;
    llvm::SaveAndRestore<Block *> inside(turn, stages && *stages > 1 ? body : turn);
    lowerBody(op->body_, carried, scalars);
    b.create<scf::YieldOp>(loc, scalars);
  }
  bindResults(op->return_vars_, carried, loop.getResults());
}

void Lowering::VisitStmt_(const ir::WhileStmtPtr &op) {
  if (jumps(op->body_)) {
    lowerLeavable(op);
    return;
  }
  Values initial;
  Carried carried = carriedBy(op->iter_args_, op->return_vars_, initial);
  at(op->span_);
  SmallVector<Type> types(ValueRange(initial).getTypes());
  SmallVector<Location> locations(types.size(), loc);
  auto loop = b.create<scf::WhileOp>(loc, types, initial);
  OpBuilder::InsertionGuard guard(b);
  std::vector<ir::VarPtr> args(op->iter_args_.begin(), op->iter_args_.end());
  Block *before = b.createBlock(&loop.getBefore(), {}, types, locations);
  bindResults(args, carried, before->getArguments());
  Value condition = scalarOf(op->condition_, b.getI1Type());
  b.create<scf::ConditionOp>(loc, condition, before->getArguments());
  Block *after = b.createBlock(&loop.getAfter(), {}, types, locations);
  bindResults(args, carried, after->getArguments());
  writeInto(op->body_, carried);
  Values scalars;
  lowerBody(op->body_, carried, scalars);
  b.create<scf::YieldOp>(loc, scalars);
  b.setInsertionPointAfter(loop);
  bindResults(op->return_vars_, carried, loop.getResults());
}

} // namespace pto_mlir::pypto_frontend
