// Statements: which variables become tiles, and what loops and branches then carry.
#include "TensorsToTiles.h"

#include "AccOperands.h"
#include "CoreHomes.h"
#include "TileNodes.h"
#include "TileProducts.h"
#include "Tiler.h"
#include "Types.h"

#include "pto_mlir/Support/FreeName.h"
#include "pypto/ir/transforms/base/visitor.h"
#include "llvm/ADT/STLExtras.h"

namespace pto_mlir::pypto_frontend {

namespace ir = pypto::ir;

namespace {

bool isTensor(const ir::ExprPtr &expr) { return ir::IsA<ir::TensorType>(expr->type_); }

/// Whether a body computes with tensors, or products.
class Finder : public ir::IRVisitor {
public:
  bool found = false, hasProducts = false;

protected:
  void VisitExpr_(const ir::CallPtr &op) override {
    const std::string &name = op->op_->name_;
    hasProducts |= isProductName(name);
    // Views of parameters stay in global memory.
    static constexpr std::string_view kNoTiles[] = {"tensor.dim", "tensor.read", "tensor.write", "tensor.view"};
    found |= name.starts_with("tensor.") && !llvm::is_contained(kNoTiles, name);
    ir::IRVisitor::VisitExpr_(op);
  }
};

} // namespace

bool isKernel(const ir::Function &function) {
  if (ir::IsHostLevel(function))
    return false;
  switch (function.func_type_) {
  case ir::FunctionType::Opaque:
  case ir::FunctionType::InCore:
  case ir::FunctionType::AIC:
  case ir::FunctionType::AIV:
    return true;
  default:
    return false;
  }
}

ir::StmtPtr Tiler::run(const ir::StmtPtr &stmts) {
  accumulators.VisitStmt(stmts);
  return std::make_shared<const ir::SeqStmts>(body(stmts, nullptr), stmts->span_);
}

ir::VarPtr Tiler::tileOf(const ir::Var *tensor) const {
  auto found = tiles.find(tensor);
  return found == tiles.end() ? nullptr : found->second;
}

/// The statements of a body; what it yields goes to `yields`.
Tiler::Stmts Tiler::body(const ir::StmtPtr &stmts, std::vector<ir::ExprPtr> *yields) {
  Stmts made;
  Stmts *outer = std::exchange(out, &made);
  for (const ir::StmtPtr &each : ir::FlattenStmts(stmts)) {
    place = each->span_.is_valid() ? each->span_ : place;
    auto yield = ir::As<ir::YieldStmt>(each);
    if (yield && yields) {
      for (const ir::ExprPtr &value : yield->value_)
        yields->push_back(rewritten(value));
      continue; // the owner writes it
    }
    withPlace(place, [&] { statement(each); });
  }
  out = outer;
  return made;
}

void Tiler::statement(const ir::StmtPtr &stmt) {
  if (postponed(stmt))
    return;
  if (auto seq = ir::As<ir::SeqStmts>(stmt)) {
    for (const ir::StmtPtr &each : seq->stmts_)
      statement(each);
  } else if (auto op = ir::As<ir::AssignStmt>(stmt)) {
    assign(*op);
  } else if (auto op = ir::As<ir::EvalStmt>(stmt)) {
    auto call = ir::As<ir::Call>(op->expr_);
    if (call && call->op_->name_ == "tensor.assemble") // whose result nobody names
      return assign(
          ir::AssignStmt(std::make_shared<const ir::Var>("assembled", call->type_, op->span_), call, op->span_));
    name = "t";
    if (ir::ExprPtr value = rewritten(op->expr_); !ir::IsA<ir::Var>(value))
      out->push_back(std::make_shared<const ir::EvalStmt>(value, stmt->span_));
  } else if (auto op = ir::As<ir::IfStmt>(stmt)) {
    branch(*op);
  } else if (auto op = ir::As<ir::ForStmt>(stmt)) {
    std::vector<ir::IterArgPtr> args;
    std::vector<ir::VarPtr> results;
    Stmts stmts;
    loop(*op, args, results, stmts);
    out->push_back(
        std::make_shared<const ir::ForStmt>(op->loop_var_, op->start_, op->stop_, op->step_, std::move(args),
                                            std::make_shared<const ir::SeqStmts>(std::move(stmts), op->body_->span_),
                                            std::move(results), op->span_, op->kind_, op->attrs_));
  } else if (auto op = ir::As<ir::WhileStmt>(stmt)) {
    std::vector<ir::IterArgPtr> args;
    std::vector<ir::VarPtr> results;
    Stmts stmts;
    loop(*op, args, results, stmts);
    out->push_back(std::make_shared<const ir::WhileStmt>(
        op->condition_, std::move(args), std::make_shared<const ir::SeqStmts>(std::move(stmts), op->body_->span_),
        std::move(results), op->span_));
  } else {
    out->push_back(stmt);
  }
}

void Tiler::alias(const ir::VarPtr &var, const ir::VarPtr &of) {
  if (ir::VarPtr tile = tileOf(of.get()))
    tiles[var.get()] = tile;
  else if (auto found = windows.find(of.get()); found != windows.end())
    windows[var.get()] = found->second;
  else if (auto product = lateProducts.find(of.get()); product != lateProducts.end())
    lateProducts[var.get()] = product->second;
}

void Tiler::assign(const ir::AssignStmt &stmt) {
  if (ir::IsA<ir::TensorType>(stmt.var_->type_) && ir::IsA<ir::ScalarType>(stmt.value_->type_))
    fail(stmt.span_, stmt.var_->name_hint_ + " is a tensor, but gets a number");
  name = stmt.var_->name_hint_;
  made = stmt.var_.get();
  auto call = ir::As<ir::Call>(stmt.value_);
  if (std::optional<Window> view = call ? viewOf(*call) : std::nullopt) {
    ir::CallPtr access = ofTensor(*call, *view);
    if (!ir::IsA<ir::TensorType>(access->type_))
      return assign(ir::AssignStmt(stmt.var_, access, stmt.span_));
    assign(ir::AssignStmt(std::make_shared<const ir::Var>(name, access->type_, stmt.span_), access, stmt.span_));
    windows[stmt.var_.get()] = *view;
    return;
  }
  if (call && ir::IsA<ir::TensorType>(stmt.var_->type_) && !ir::IsA<ir::GlobalVar>(call->op_)) {
    ir::OpView view(*call);
    if (view.row() && view.row()->name == "tensor.slice")
      if (auto window = sliced(view)) {
        windows[stmt.var_.get()] = *window;
        return;
      }
    if (late(stmt.var_, call))
      return;
    if (view.row() && (view.row()->name == "tensor.assemble" || view.row()->name == "tensor.expand_clone")) {
      if (view.row()->name == "tensor.assemble" && (assembledLate(stmt, view) || storedLoop(stmt, view)))
        return;
      if (ir::CallPtr store = assembled(view, call)) {
        noteWrite(stmt.var_, ir::As<ir::Var>(ir::OpView(*store).Operand("out")).get());
        out->push_back(std::make_shared<const ir::AssignStmt>(stmt.var_, store, stmt.span_));
        return;
      }
    }
  }
  if (std::vector<ir::VarPtr> found = call ? comparedRows(call) : std::vector<ir::VarPtr>(); !found.empty()) {
    pairs[stmt.var_.get()] = std::move(found);
    return;
  }
  if (auto item = ir::As<ir::TupleGetItemExpr>(stmt.value_))
    if (auto of = pairs.find(ir::As<ir::Var>(item->tuple_).get()); of != pairs.end()) {
      tiles[stmt.var_.get()] = of->second[size_t(item->index_)];
      return;
    }
  ir::ExprPtr value = rewritten(stmt.value_);
  auto tile = ir::As<ir::Var>(value);
  if (tile && ir::IsA<ir::TensorType>(stmt.var_->type_) && ir::IsA<ir::TileType>(tile->type_)) {
    tiles[stmt.var_.get()] = tile;
    return;
  }
  if (auto other = ir::As<ir::Var>(stmt.value_); other && isTensor(other))
    alias(stmt.var_, other);
  out->push_back(std::make_shared<const ir::AssignStmt>(stmt.var_, value, stmt.span_));
}

/// Which operands of an operation are a tensor and where the part of it that is accessed begins.
struct Access {
  std::string_view op, tensor, offsets;
};
static constexpr Access kAccesses[] = {{"tile.load", "tensor", "offsets"},
                                       {"tile.store", "out", "offsets"},
                                       {"tensor.assemble", "target", "offset"},
                                       {"tensor.read", "x", "indices"},
                                       {"tensor.write", "x", "indices"}};

static const Access *accessOf(const ir::Call &call) {
  const Access *found = llvm::find_if(kAccesses, [&](const Access &each) { return each.op == call.op_->name_; });
  return found == std::end(kAccesses) ? nullptr : found;
}

/// The view, made inside the kernel, of which a call accesses a part.
std::optional<Window> Tiler::viewOf(const ir::Call &call) const {
  const Access *access = accessOf(call);
  auto var = access ? ir::As<ir::Var>(ir::OpView(call).Operand(access->tensor)) : nullptr;
  auto found = var ? windows.find(var.get()) : windows.end();
  return found == windows.end() ? std::nullopt : std::optional(found->second);
}

/// The call that accesses the same part of the tensor that `view` is one of.
ir::CallPtr Tiler::ofTensor(const ir::Call &call, const Window &view) {
  const Access *access = accessOf(call);
  std::vector<ir::ExprPtr> offsets = ir::OpView(call).Elements(access->offsets);
  if (view.shape.size() != view.extents.size() || !view.valid.empty() || offsets.size() != view.offsets.size())
    fail(call.span_, call.op_->name_ + " on a view that drops axes or is valid in part, and is made inside the kernel; "
                                       "make it before the scope");
  for (size_t axis = 0; axis < offsets.size(); ++axis)
    offsets[axis] = sum(view.offsets[axis], offsets[axis]);
  auto made = std::make_shared<ir::Call>(call);
  const ir::OpRow &row = *ir::OpView(call).row();
  made->args_[size_t(row.Find(access->tensor))] = view.tensor;
  made->args_[size_t(row.Find(access->offsets))] = tuple(std::move(offsets));
  if (ir::IsA<ir::TensorType>(made->type_))
    made->type_ = view.tensor->type_;
  return made;
}

/// The expression with tiles for computed tensors; a computed tensor is the variable of its tile.
ir::ExprPtr Tiler::rewritten(const ir::ExprPtr &expr) {
  if (auto var = ir::As<ir::Var>(expr)) {
    refuseLate(expr);
    ir::VarPtr tile = tileOf(var.get());
    return tile ? tile : expr;
  }
  auto call = ir::As<ir::Call>(expr);
  if (!call || ir::IsA<ir::GlobalVar>(call->op_))
    return expr;
  if (std::optional<Window> view = viewOf(*call))
    return rewritten(ofTensor(*call, *view));
  if (call->op_->name_.starts_with("tensor."))
    if (ir::VarPtr tile = compute(call))
      return tile;
  std::vector<ir::ExprPtr> args;
  bool changed = false;
  for (const ir::ExprPtr &arg : call->args_) {
    if (auto var = ir::As<ir::Var>(arg); var && windows.count(var.get()))
      fail(call->span_, call->op_->name_ + " on a view that is made inside the kernel; make it before the scope");
    args.push_back(ir::IsA<ir::MakeTuple>(arg) ? arg : rewritten(arg));
    changed |= args.back() != arg;
  }
  if (llvm::is_contained({"tile.store", "tile.mscatter", "tensor.write"}, call->op_->name_))
    for (const ir::ExprPtr &arg : call->args_)
      if (auto var = ir::As<ir::Var>(arg); var && ir::IsA<ir::TensorType>(var->type_))
        noteWrite(nullptr, var.get());
  if (!changed)
    return expr;
  auto made = std::make_shared<ir::Call>(call->op_, std::move(args), call->kwargs_, call->type_, call->span_);
  made->attrs_ = call->attrs_;
  return made;
}

/// Variables for values that an owner of bodies hands on: tiles where `isTile` says so.
static ir::VarPtr carrier(const ir::VarPtr &var, const ir::TypePtr &tile) {
  return tile ? std::make_shared<const ir::Var>(var->name_hint_, tile, var->span_) : var;
}

template <class Loop>
void Tiler::loop(const Loop &stmt, std::vector<ir::IterArgPtr> &args, std::vector<ir::VarPtr> &results, Stmts &stmts) {
  for (const ir::IterArgPtr &arg : stmt.iter_args_) {
    ir::ExprPtr initial = rewritten(arg->initValue_);
    if (!isTensor(arg) || !ir::IsA<ir::TileType>(initial->type_)) {
      if (auto var = ir::As<ir::Var>(arg->initValue_); var && isTensor(arg))
        alias(arg, var);
      args.push_back(arg);
      continue;
    }
    args.push_back(std::make_shared<const ir::IterArg>(arg->name_hint_, initial->type_, initial, arg->span_));
    tiles[arg.get()] = args.back();
  }
  std::vector<ir::ExprPtr> yields;
  stmts = body(stmt.body_, &yields);
  Stmts *outer = std::exchange(out, &stmts);
  for (size_t i = 0; i < yields.size() && i < args.size(); ++i)
    if (args[i] != stmt.iter_args_[i])
      yields[i] = ir::IsA<ir::TileType>(yields[i]->type_) ? yields[i] : tile(yields[i]);
  out = outer;
  if (!yields.empty())
    stmts.push_back(std::make_shared<const ir::YieldStmt>(std::move(yields), stmt.body_->span_));
  for (size_t i = 0; i < stmt.return_vars_.size(); ++i) {
    const ir::VarPtr &var = stmt.return_vars_[i];
    results.push_back(carrier(var, args[i] != stmt.iter_args_[i] ? args[i]->type_ : nullptr));
    if (results.back() != var)
      tiles[var.get()] = results.back();
  }
}

void Tiler::branch(const ir::IfStmt &stmt) {
  std::vector<ir::ExprPtr> thenYields, elseYields;
  Stmts thenBody = body(stmt.then_body_, &thenYields), elseBody;
  if (stmt.else_body_)
    elseBody = body(*stmt.else_body_, &elseYields);
  std::vector<ir::VarPtr> results;
  for (size_t i = 0; i < stmt.return_vars_.size(); ++i) {
    const ir::VarPtr &var = stmt.return_vars_[i];
    ir::TypePtr tile;
    if (isTensor(var)) {
      auto isTile = [&](const std::vector<ir::ExprPtr> &yields) {
        return i < yields.size() && ir::IsA<ir::TileType>(yields[i]->type_);
      };
      if (isTile(thenYields) != isTile(elseYields))
        fail(stmt.span_,
             "the arms give " + var->name_hint_ + " in two ways: computed, and in global memory; compute it in both");
      if (isTile(thenYields))
        tile = thenYields[i]->type_;
    }
    results.push_back(carrier(var, tile));
    if (tile)
      tiles[var.get()] = results.back();
  }
  auto close = [&](Stmts &stmts, std::vector<ir::ExprPtr> &yields, const ir::Span &span) -> ir::StmtPtr {
    if (!yields.empty())
      stmts.push_back(std::make_shared<const ir::YieldStmt>(std::move(yields), span));
    return std::make_shared<const ir::SeqStmts>(std::move(stmts), span);
  };
  ir::StmtPtr thenStmt = close(thenBody, thenYields, stmt.then_body_->span_);
  std::optional<ir::StmtPtr> elseStmt;
  if (stmt.else_body_)
    elseStmt = close(elseBody, elseYields, (*stmt.else_body_)->span_);
  out->push_back(
      std::make_shared<const ir::IfStmt>(stmt.condition_, thenStmt, elseStmt, std::move(results), stmt.span_));
}

ir::FunctionPtr tensorsToTiles(const ir::FunctionPtr &given, const isa::ArchInfo &arch,
                               const std::vector<ir::VarPtr> &escaping, std::vector<ir::VarPtr> *made) {
  Finder finder;
  finder.VisitStmt(given->body_);
  ir::FunctionPtr function = given;
  if (finder.hasProducts)
    if (ir::StmtPtr moved = moveAccOperands(given->body_); moved != given->body_)
      function = withBody(*given, moved);
  auto cut = [&](const ir::StmtPtr &body) { return finder.hasProducts ? tileProducts(body, arch) : body; };
  if (!finder.found)
    return finder.hasProducts ? withBody(*function, cut(function->body_)) : function;
  Tiler tiler(arch);
  auto whole = ir::As<ir::SeqStmts>(tiler.run(function->body_));
  Tiler::Stmts stmts = whole->stmts_;
  std::vector<ir::VarPtr> params = function->params_;
  std::vector<ir::ParamDirection> directions = function->param_directions_;
  // An output for the tile that holds `var`; `var` itself where it is in global memory.
  auto output = [&](const ir::VarPtr &var, Tiler::Stmts &before) -> ir::VarPtr {
    ir::VarPtr tile = tiler.tileOf(var.get());
    bool isLate = tiler.isLateProduct(var.get());
    tiler.checkHeld(var);
    if (!tile && !isLate)
      return var;
    auto isTaken = [&](const std::string &name) {
      return llvm::any_of(params, [&](const ir::VarPtr &other) { return other->name_hint_ == name; });
    };
    auto param = std::make_shared<const ir::Var>(freeName(var->name_hint_, isTaken), var->type_, var->span_);
    params.push_back(param);
    directions.push_back(ir::ParamDirection::Out);
    if (isLate)
      llvm::append_range(before, tiler.storesOf(var.get(), param));
    else
      before.push_back(Tiler::storeOf(tile, param));
    return param;
  };
  auto ret = stmts.empty() ? nullptr : ir::As<ir::ReturnStmt>(stmts.back());
  if (ret) {
    stmts.pop_back();
    std::vector<ir::ExprPtr> values;
    for (const ir::ExprPtr &value : ret->value_) {
      auto var = ir::As<ir::Var>(value);
      values.push_back(var ? ir::ExprPtr(output(var, stmts)) : value);
    }
    stmts.push_back(std::make_shared<const ir::ReturnStmt>(std::move(values), ret->span_));
  }
  for (const ir::VarPtr &var : escaping)
    if (output(var, stmts) != var && made)
      made->push_back(var);
  ir::StmtPtr body = cut(std::make_shared<const ir::SeqStmts>(std::move(stmts), function->body_->span_));
  return std::make_shared<const ir::Function>(function->name_, std::move(params), function->return_types_, body,
                                              function->span_, function->func_type_, std::move(directions));
}

ir::ProgramPtr tensorsToTiles(const ir::ProgramPtr &program, const isa::ArchInfo &arch, bool isRun) {
  isRun &= llvm::any_of(program->functions_, [](const ir::FunctionPtr &function) {
    return function->func_type_ == ir::FunctionType::Orchestration;
  });
  std::vector<ir::FunctionPtr> functions;
  for (const ir::FunctionPtr &function : program->functions_) {
    bool stays = !isKernel(*function) || (isRun && asOrchestrator(function));
    functions.push_back(stays ? function : tensorsToTiles(function, arch));
  }
  return functions == program->functions_
             ? program
             : std::make_shared<const ir::Program>(std::move(functions), program->name_, program->span_);
}

} // namespace pto_mlir::pypto_frontend
