// Statements. Tiles that loops and branches hand on lie in one buffer: no op carries a tile.
#include "Lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace pto_mlir::pypto_frontend {
namespace {

bool isScalar(const ir::VarPtr &var) { return ir::IsA<ir::ScalarType>(var->type_); }
bool isTile(const ir::VarPtr &var) { return ir::IsA<ir::TileType>(var->type_); }

class Reads : public ir::IRVisitor {
public:
  explicit Reads(const ir::Var *var) : var(var) {}
  bool found = false;

protected:
  void VisitExpr_(const ir::VarPtr &op) override { found |= op.get() == var; }
  void VisitExpr_(const ir::IterArgPtr &op) override { found |= op.get() == var; }

private:
  const ir::Var *var;
};

bool reads(const ir::StmtPtr &stmt, const ir::Var *var) {
  Reads visitor(var);
  visitor.VisitStmt(stmt);
  return visitor.found;
}

/// Where `var` is bound among the statements; their number when it is not.
size_t definedAt(const std::vector<ir::StmtPtr> &stmts, const ir::VarPtr &var) {
  return llvm::find_if(stmts, [&](const ir::StmtPtr &stmt) {
           auto assign = ir::As<ir::AssignStmt>(stmt);
           auto branch = ir::As<ir::IfStmt>(stmt);
           return (assign && assign->var_ == var) || (branch && llvm::is_contained(branch->return_vars_, var));
         }) -
         stmts.begin();
}

} // namespace

void Lowering::bind(const ir::VarPtr &var, Value value) {
  values[var.get()] = value;
  boundIn[var.get()] = b.getBlock();
}

void Lowering::VisitStmt_(const ir::AssignStmtPtr &op) {
  at(op->span_);
  auto call = ir::As<ir::Call>(op->value_);
  if (call && !ir::IsA<ir::Submit>(op->value_)) {
    Value value = lowerCall(call, op->var_);
    if (!value)
      fail(op->span_, call->op_->name_ + " has no result");
    bind(op->var_, value);
  } else {
    Value value = valueOf(op->value_);
    if (auto type = ir::As<ir::ScalarType>(op->var_->type_))
      value = scalarOf(op->value_, scalarType(*b.getContext(), type->dtype_));
    bind(op->var_, value);
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

void Lowering::VisitStmt_(const ir::BreakStmtPtr &op) { fail(op->span_, "break is not lowered yet"); }
void Lowering::VisitStmt_(const ir::ContinueStmtPtr &op) { fail(op->span_, "continue is not lowered yet"); }

void Lowering::VisitScopeStmt_(const ir::ScopeStmtPtr &op) {
  fail(op->span_, std::string(ir::KindName(op->kind())) + " inside a kernel: scopes belong to an orchestrator");
}

void Lowering::copyTile(Value from, Value to, const ir::Span &span) {
  if (from == to)
    return;
  auto type = cast<pto::TileBufType>(to.getType());
  if (type.getLoc() != pto::AddressSpace::vec)
    fail(span, "a tile in " + pto::stringifyAddressSpace(type.getLoc()).str() +
                   " cannot be copied to be handed on; give both the same MemRef");
  b.create<pto::TMovOp>(loc, from, to);
}

/// The buffers of what a loop carries, and the first values of its scalars.
Lowering::Carried Lowering::carriedBy(const std::vector<ir::IterArgPtr> &args, Values &initial) {
  Carried carried;
  for (const ir::IterArgPtr &arg : args) {
    carried.vars.push_back(arg);
    if (isScalar(arg)) {
      carried.buffers.push_back(nullptr);
      initial.push_back(scalarOf(arg->initValue_, scalarType(*b.getContext(), *ir::ElementTypeOf(arg->type_))));
      continue;
    }
    Value first = valueOf(arg->initValue_);
    auto init = ir::As<ir::Var>(arg->initValue_);
    // Nobody else reads the tile that it begins with: the loop goes on in its buffer.
    bool sole = init && uses.lookup(init.get()) == 1 && boundIn.lookup(init.get()) == b.getBlock();
    if (isTile(arg) && !sole) {
      Value own = buffer(ir::As<ir::TileType>(arg->type_), arg.get());
      copyTile(first, own, arg->span_);
      first = own;
    }
    carried.buffers.push_back(first);
  }
  return carried;
}

/// Lets the statements that make what `body` yields write into the buffers, where nobody reads those later.
void Lowering::writeInto(const ir::StmtPtr &body, const Carried &carried) {
  std::vector<ir::StmtPtr> stmts = ir::FlattenStmts(body);
  auto yield = stmts.empty() ? nullptr : ir::As<ir::YieldStmt>(stmts.back());
  if (!yield || yield->value_.size() != carried.vars.size())
    return;
  for (auto [value, var, tile] : llvm::zip_equal(yield->value_, carried.vars, carried.buffers)) {
    auto made = ir::As<ir::Var>(value);
    if (!made || !isTile(var) || tile.getType() != tileType(*b.getContext(), *ir::As<ir::TileType>(made->type_),
                                                              options))
      continue;
    size_t place = definedAt(stmts, made);
    bool free = place < stmts.size() && llvm::count(yield->value_, value) == 1;
    for (size_t i = place; free && i < stmts.size(); ++i)
      free = !reads(stmts[i], var.get());
    // A tile of the cube core cannot be copied; it is replaced where it is.
    bool inVec = cast<pto::TileBufType>(tile.getType()).getLoc() == pto::AddressSpace::vec;
    if (!inVec && place < stmts.size()) {
      free = true;
      for (size_t i = place + 1; free && i < stmts.size(); ++i)
        free = !reads(stmts[i], var.get());
    }
    if (free)
      wanted[made.get()] = tile;
  }
}

/// Brings what the body yields into the buffers; `scalars` receives the scalars.
void Lowering::moveYielded(const ir::YieldStmtPtr &yield, const Carried &carried, Values &scalars) {
  if (!yield)
    CHECK(carried.vars.empty()) << "a body that hands on values must end in a yield";
  size_t count = yield ? yield->value_.size() : 0;
  CHECK(count == carried.vars.size()) << "the body yields " << int64_t(count) << " values, "
                                      << int64_t(carried.vars.size()) << " are needed";
  if (yield)
    at(yield->span_);
  SmallVector<std::pair<Value, Value>> moves;
  for (size_t i = 0; i < count; ++i) {
    const ir::VarPtr &var = carried.vars[i];
    if (isScalar(var)) {
      scalars.push_back(scalarOf(yield->value_[i], scalarType(*b.getContext(), *ir::ElementTypeOf(var->type_))));
      continue;
    }
    Value value = valueOf(yield->value_[i]);
    if (!isTile(var) && value != carried.buffers[i])
      fail(yield->span_, "a kernel cannot choose between tensors: " + var->name_hint_ + " must stay the same one");
    if (value != carried.buffers[i])
      moves.emplace_back(value, carried.buffers[i]);
  }
  // One that is overwritten before it is read goes by a buffer of its own.
  for (size_t i = 0; i < moves.size(); ++i) {
    bool overwritten = llvm::any_of(ArrayRef(moves).take_front(i), [&](auto &move) { return move.second == moves[i].first; });
    if (overwritten) {
      auto type = cast<pto::TileBufType>(moves[i].first.getType());
      Value saved = tiles.create<pto::AllocTileOp>(loc, type);
      OpBuilder::InsertionGuard guard(b);
      copyTile(moves[i].first, saved, yield->span_);
      moves[i].first = saved;
    }
  }
  for (auto &[from, to] : moves)
    copyTile(from, to, yield->span_);
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
      tile = wanted.lookup(var.get());
    else
      fail(op->span_, "a kernel cannot choose between tensors");
    if (isTile(var) && !tile)
      tile = buffer(ir::As<ir::TileType>(var->type_), var.get());
    carried.buffers.push_back(tile);
  }
  if (!op->return_vars_.empty() && !op->else_body_)
    fail(op->span_, "an if that gives values needs an else");
  auto branch = b.create<scf::IfOp>(loc, types, condition, op->else_body_.has_value());
  auto arm = [&](Block *block, const ir::StmtPtr &body) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(block);
    if (!block->empty() && block->back().hasTrait<OpTrait::IsTerminator>())
      block->back().erase();
    writeInto(body, carried);
    Values scalars;
    lowerBody(body, carried, scalars);
    b.create<scf::YieldOp>(loc, scalars);
  };
  arm(branch.thenBlock(), op->then_body_);
  if (op->else_body_)
    arm(branch.elseBlock(), *op->else_body_);
  bindResults(op->return_vars_, carried, branch.getResults());
}

void Lowering::VisitStmt_(const ir::ForStmtPtr &op) {
  if (auto step = ir::ConstantInt(op->step_); step && *step <= 0)
    fail(op->span_, "a loop of a kernel needs a positive step, not " + std::to_string(*step));
  Values initial;
  Value start = indexOf(op->start_), stop = indexOf(op->stop_), step = indexOf(op->step_);
  Carried carried = carriedBy(op->iter_args_, initial);
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
    lowerBody(op->body_, carried, scalars);
    b.create<scf::YieldOp>(loc, scalars);
  }
  bindResults(op->return_vars_, carried, loop.getResults());
}

void Lowering::VisitStmt_(const ir::WhileStmtPtr &op) {
  Values initial;
  Carried carried = carriedBy(op->iter_args_, initial);
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
