// What loops and branches hand on: scalars as results, tiles in buffers.
#include "Lowering.h"

#include "pto_mlir/Dialect/PTO/IR/Tiles.h"

using namespace mlir;

namespace pto_mlir::pypto_frontend {
namespace {

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
  return llvm::find_if(stmts,
                       [&](const ir::StmtPtr &stmt) {
                         auto assign = ir::As<ir::AssignStmt>(stmt);
                         auto branch = ir::As<ir::IfStmt>(stmt);
                         return (assign && assign->var_ == var) ||
                                (branch && llvm::is_contained(branch->return_vars_, var));
                       }) -
         stmts.begin();
}

/// The value of position `i` that a body yields, as a variable.
ir::VarPtr yieldedVar(const std::vector<ir::StmtPtr> &stmts, size_t i) {
  auto yield = stmts.empty() ? nullptr : ir::As<ir::YieldStmt>(stmts.back());
  return yield && i < yield->value_.size() ? ir::As<ir::Var>(yield->value_[i]) : nullptr;
}

/// Whether `var` is read after the statement that makes `made`, inside that statement's arms included.
bool readAfter(const std::vector<ir::StmtPtr> &stmts, const ir::VarPtr &made, const ir::Var *var) {
  size_t place = made ? definedAt(stmts, made) : stmts.size();
  if (place == stmts.size())
    return made.get() != var;
  for (size_t i = place + 1; i < stmts.size(); ++i)
    if (reads(stmts[i], var))
      return true;
  auto branch = ir::As<ir::IfStmt>(stmts[place]);
  if (!branch)
    return false;
  size_t position = llvm::find(branch->return_vars_, made) - branch->return_vars_.begin();
  auto arm = [&](const ir::StmtPtr &body) {
    std::vector<ir::StmtPtr> inside = ir::FlattenStmts(body);
    return readAfter(inside, yieldedVar(inside, position), var);
  };
  return arm(branch->then_body_) || (branch->else_body_ && arm(*branch->else_body_));
}

/// Whether a tile of `type` may lie where one of `other` does: its MemRef, if it has one, is the same.
bool staysIn(const ir::TypePtr &type, const ir::TypePtr &other) {
  auto tile = ir::As<ir::TileType>(type), held = ir::As<ir::TileType>(other);
  return !tile || !tile->OwnBuffer() || (held && tile->OwnBuffer() == held->OwnBuffer()) || liesWith(type, other);
}

} // namespace

void Lowering::copyTile(Value from, Value to, const ir::Span &span) {
  if (sameBytes(from, to))
    return;
  auto type = cast<pto::TileBufType>(to.getType());
  if (type.getLoc() != pto::AddressSpace::vec)
    fail(span,
         "a tile in " + pto::stringifyAddressSpace(type.getLoc()).str() +
             " cannot be copied to be handed on; give the one of the loop a name of its own, or both the same MemRef");
  b.create<pto::TMovOp>(loc, from, to);
}

/// The buffers of what a loop carries, and the first values of its scalars.
Lowering::Carried Lowering::carriedBy(const std::vector<ir::IterArgPtr> &args, const std::vector<ir::VarPtr> &given,
                                      Values &initial) {
  for (auto [arg, var] : llvm::zip(args, given))
    if (options.addresses && !liesWith(var->type_, arg->type_))
      fail(var->span_, var->name_hint_ + " must have the MemRef of " + arg->name_hint_ + ", which the loop carries");
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
    bool sole = init && uses.lookup(init.get()) == 1 && boundIn.lookup(init.get()) == b.getBlock() &&
                (!isTile(arg) || holders.lookup(pto::getAliasRoot(first)) <= 1);
    if (isTile(arg) && !(sole && staysIn(arg->type_, arg->initValue_->type_))) {
      Value own = buffer(ir::As<ir::TileType>(arg->type_), arg.get());
      nameAfter(arg, own);
      copyTile(first, own, arg->span_);
      first = own;
    }
    carried.buffers.push_back(first);
  }
  return carried;
}

/// The tile in whose place the statements compute `var`: another name of it, or what a product adds to. Null for
/// others, and for those that are not made by the statements.
static ir::VarPtr addedTo(const std::vector<ir::StmtPtr> &stmts, const ir::VarPtr &var) {
  size_t place = definedAt(stmts, var);
  if (place == stmts.size())
    return nullptr;
  ir::VarPtr found;
  if (auto assign = ir::As<ir::AssignStmt>(stmts[place])) {
    auto call = ir::As<ir::Call>(assign->value_);
    found = ir::As<ir::Var>(call && call->op_->name_.ends_with("_acc") ? call->args_[0] : assign->value_);
  } else if (auto loop = ir::As<ir::ForStmt>(stmts[place])) {
    for (size_t i = 0; i < loop->return_vars_.size(); ++i)
      if (loop->return_vars_[i] == var)
        found = ir::As<ir::Var>(loop->iter_args_[i]->initValue_);
  }
  return found && definedAt(stmts, found) < place ? found : nullptr;
}

/// Lets the statements that make what `body` yields write into the buffers, where nobody reads those later.
void Lowering::writeInto(const ir::StmtPtr &body, const Carried &carried) {
  std::vector<ir::StmtPtr> stmts = ir::FlattenStmts(body);
  auto yield = stmts.empty() ? nullptr : ir::As<ir::YieldStmt>(stmts.back());
  if (!yield || yield->value_.size() != carried.vars.size())
    return;
  for (auto [value, var, tile] : llvm::zip_equal(yield->value_, carried.vars, carried.buffers)) {
    auto made = ir::As<ir::Var>(value);
    if (!made || !isTile(var) ||
        tile.getType() != tileType(*b.getContext(), *ir::As<ir::TileType>(made->type_), options))
      continue;
    size_t place = definedAt(stmts, made);
    bool free = place < stmts.size() && llvm::count(yield->value_, value) == 1;
    for (size_t i = place; free && i < stmts.size(); ++i)
      free = !reads(stmts[i], var.get());
    // A tile of the cube core cannot be copied; it is replaced where it is.
    bool inVec = cast<pto::TileBufType>(tile.getType()).getLoc() == pto::AddressSpace::vec;
    if (!inVec && place < stmts.size())
      free = !readAfter(stmts, made, var.get());
    // What a product adds to lies there as well.
    for (ir::VarPtr next = free ? made : nullptr; next; next = inVec ? nullptr : addedTo(stmts, next))
      wanted[next.get()] = tile;
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
    bool overwritten =
        llvm::any_of(ArrayRef(moves).take_front(i), [&](auto &move) { return move.second == moves[i].first; });
    if (overwritten) {
      Value saved = scratch(cast<pto::TileBufType>(moves[i].first.getType()));
      OpBuilder::InsertionGuard guard(b);
      copyTile(moves[i].first, saved, yield->span_);
      moves[i].first = saved;
    }
  }
  for (auto &[from, to] : moves)
    copyTile(from, to, yield->span_);
}

} // namespace pto_mlir::pypto_frontend
