// Loops that are left early: `break` and `continue`. The loop is an scf.while with its counter and whether it goes on;
// what stands behind a branch that may jump becomes a branch of its own. A carried value that an iteration did not
// come to yield keeps what it was when the iteration began.
#include "Lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace pto_mlir::pypto_frontend {
namespace {

class Jumps : public ir::IRVisitor {
public:
  bool found = false;

protected:
  void VisitStmt_(const ir::BreakStmtPtr &) override { found = true; }
  void VisitStmt_(const ir::ContinueStmtPtr &) override { found = true; }
  // Those of loops inside are their own.
  void VisitStmt_(const ir::ForStmtPtr &) override {}
  void VisitStmt_(const ir::WhileStmtPtr &) override {}
};

} // namespace

bool Lowering::jumps(const ir::StmtPtr &body) {
  Jumps visitor;
  visitor.VisitStmt(body);
  return visitor.found;
}

Value Lowering::flagConstant(bool value) { return constant(b.getBoolAttr(value), b.getI1Type()); }

/// Lowers the statements; `scalars` are the carried ones before and after them.
Lowering::Jump Lowering::lowerJumping(ArrayRef<ir::StmtPtr> stmts, const Carried &carried, Values &scalars) {
  for (size_t i = 0; i < stmts.size(); ++i) {
    const ir::StmtPtr &stmt = stmts[i];
    if (ir::IsA<ir::BreakStmt>(stmt) || ir::IsA<ir::ContinueStmt>(stmt))
      return {flagConstant(ir::IsA<ir::BreakStmt>(stmt)), flagConstant(true)};
    auto branch = ir::As<ir::IfStmt>(stmt);
    if (!branch || !jumps(stmt)) {
      VisitStmt(stmt);
      continue;
    }
    Jump first = lowerJumpingBranch(branch);
    // What is left of the iteration.
    SmallVector<Type> types = {b.getI1Type(), b.getI1Type()};
    llvm::append_range(types, ValueRange(scalars).getTypes());
    auto rest = b.create<scf::IfOp>(loc, types, first.skips, /*withElseRegion=*/true);
    Values kept = {first.leaves, first.skips};
    llvm::append_range(kept, scalars);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(rest.thenBlock());
    b.create<scf::YieldOp>(loc, kept);
    b.setInsertionPointToEnd(rest.elseBlock());
    Values given(scalars);
    Jump second = lowerJumping(stmts.drop_front(i + 1), carried, given);
    given.insert(given.begin(), {second.leaves, second.skips});
    b.create<scf::YieldOp>(loc, given);
    scalars = Values(rest.getResults().drop_front(2));
    return {rest.getResult(0), rest.getResult(1)};
  }
  if (!carried.vars.empty()) {
    scalars.clear();
    moveYielded(std::exchange(yielded, nullptr), carried, scalars);
  }
  return {flagConstant(false), flagConstant(false)};
}

Lowering::Jump Lowering::lowerJumpingBranch(const ir::IfStmtPtr &op) {
  if (!op->return_vars_.empty())
    fail(op->span_, "an if that gives values cannot hold break or continue");
  Value condition = scalarOf(op->condition_, b.getI1Type());
  at(op->span_);
  auto branch = b.create<scf::IfOp>(loc, TypeRange{b.getI1Type(), b.getI1Type()}, condition, /*withElseRegion=*/true);
  auto arm = [&](Block *block, const ir::StmtPtr &body) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(block);
    Values none;
    Jump jump = body ? lowerJumping(ir::FlattenStmts(body), {}, none) : Jump{flagConstant(false), flagConstant(false)};
    b.create<scf::YieldOp>(loc, ValueRange{jump.leaves, jump.skips});
  };
  arm(branch.thenBlock(), op->then_body_);
  arm(branch.elseBlock(), op->else_body_.value_or(nullptr));
  return {branch.getResult(0), branch.getResult(1)};
}

/// `condition` and `advance` are given what the loop counts in, which is `counter` at first, or null.
void Lowering::lowerLeavable(const LeavableLoop &loop, Value counter, function_ref<Value(Value)> condition,
                             function_ref<Value(Value)> advance) {
  Values initial;
  Carried carried = carriedBy(loop.args, loop.given, initial);
  for (const ir::VarPtr &var : carried.vars)
    if (isTile(var))
      fail(var->span_, "a loop with break or continue carries no tiles: " + var->name_hint_);
  at(loop.span);
  unsigned extra = counter ? 2 : 1;
  initial.insert(initial.begin(), flagConstant(true));
  if (counter)
    initial.insert(initial.begin() + 1, counter);
  SmallVector<Type> types(ValueRange(initial).getTypes());
  SmallVector<Location> locations(types.size(), loc);
  auto op = b.create<scf::WhileOp>(loc, types, initial);
  OpBuilder::InsertionGuard guard(b);
  std::vector<ir::VarPtr> args(loop.args.begin(), loop.args.end());
  Block *before = b.createBlock(&op.getBefore(), {}, types, locations);
  bindResults(args, carried, before->getArguments().drop_front(extra));
  Value more = condition(counter ? before->getArgument(1) : Value());
  b.create<scf::ConditionOp>(loc, b.create<arith::AndIOp>(loc, before->getArgument(0), more), before->getArguments());
  Block *after = b.createBlock(&op.getAfter(), {}, types, locations);
  bindResults(args, carried, after->getArguments().drop_front(extra));
  Value next = advance(counter ? after->getArgument(1) : Value());
  Values scalars(after->getArguments().drop_front(extra));
  Jump jump = lowerJumping(ir::FlattenStmts(loop.body), carried, scalars);
  scalars.insert(scalars.begin(), b.create<arith::XOrIOp>(loc, jump.leaves, flagConstant(true)));
  if (counter)
    scalars.insert(scalars.begin() + 1, next);
  b.create<scf::YieldOp>(loc, scalars);
  b.setInsertionPointAfter(op);
  bindResults(loop.given, carried, op.getResults().drop_front(extra));
}

void Lowering::lowerLeavable(const ir::ForStmtPtr &op) {
  Value start = indexOf(op->start_), stop = indexOf(op->stop_), step = indexOf(op->step_);
  lowerLeavable(
      {op->span_, op->iter_args_, op->return_vars_, op->body_}, start,
      [&](Value at) -> Value { return b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, at, stop); },
      [&](Value at) -> Value {
        bind(op->loop_var_, convert(at, scalarType(*b.getContext(), *ir::ElementTypeOf(op->loop_var_->type_)), true));
        return b.create<arith::AddIOp>(loc, at, step);
      });
}

void Lowering::lowerLeavable(const ir::WhileStmtPtr &op) {
  lowerLeavable(
      {op->span_, op->iter_args_, op->return_vars_, op->body_}, nullptr,
      [&](Value) { return scalarOf(op->condition_, b.getI1Type()); }, [](Value) { return Value(); });
}

} // namespace pto_mlir::pypto_frontend
