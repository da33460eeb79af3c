// Scopes of products and vector operations on tensors: one kernel for each run of statements of one kind of core.
#include "TensorsToTiles.h"

#include "Accumulators.h"
#include "Plan.h"
#include "TileNodes.h"

#include "pypto/ir/op_registry.h"
#include "pypto/ir/transforms/base/mutator.h"
#include "pypto/ir/transforms/base/visitor.h"
#include "llvm/ADT/STLExtras.h"

#include <set>

namespace pto_mlir::pypto_frontend {

namespace ir = pypto::ir;

namespace {

bool isProduct(const ir::Call &call) {
  return llvm::is_contained({"tensor.matmul", "tensor.matmul_acc", "tensor.matmul_bias"}, call.op_->name_);
}

/// Whether a call gives the number of a block, or how many they are: kernels know them, orchestrators do not.
bool isBlockNumber(const ir::Call &call) {
  return llvm::is_contained({"tile.get_block_idx", "tile.get_block_num", "tile.get_subblock_idx"}, call.op_->name_);
}

/// Whether a value is a tile of the cube core, which brings it there by itself.
bool liesInCube(const ir::TypePtr &type) {
  auto tile = ir::As<ir::TileType>(type);
  auto space = tile ? tile->GetMemorySpace() : std::nullopt;
  return space && *space != ir::MemorySpace::Vec;
}

class BlockNumbers : public ir::IRVisitor {
public:
  bool found = false;

protected:
  void VisitExpr_(const ir::CallPtr &op) override {
    found |= isBlockNumber(*op);
    ir::IRVisitor::VisitExpr_(op);
  }
};

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

/// The tensor that a statement makes; null for others.
ir::VarPtr createdBy(const ir::StmtPtr &stmt) {
  auto assign = ir::As<ir::AssignStmt>(stmt);
  auto call = assign ? ir::As<ir::Call>(assign->value_) : nullptr;
  return call && call->op_->name_ == "tensor.create_tensor" ? assign->var_ : nullptr;
}

/// What the operations on tensors below a statement need.
class Cores : public ir::IRVisitor {
public:
  explicit Cores(const Accumulators &accumulators) : accumulators(accumulators) {}
  bool cube = false, vector = false, stores = false;
  bool others = false; ///< operations on tiles, signals, calls

protected:
  void VisitStmt_(const ir::AssignStmtPtr &op) override {
    if (ir::VarPtr made = createdBy(op); made && accumulators.has(made.get()))
      cube = true;
    else
      ir::IRVisitor::VisitStmt_(op);
  }
  void VisitExpr_(const ir::CallPtr &op) override {
    const std::string &name = op->op_->name_;
    bool moves = llvm::is_contained({"tensor.slice", "tensor.assemble", "tensor.dim", "tensor.read"}, name);
    bool inCube = liesInCube(op->type_);
    cube |= isProduct(*op) || inCube;
    vector |= name.starts_with("tensor.") && !moves && !isProduct(*op);
    bool isBlock = isBlockNumber(*op);
    vector |= name.starts_with("tile.") && name != "tile.store" && !isBlock && !inCube;
    others |= !name.starts_with("tensor.") && name != "tile.store";
    stores |= name == "tensor.assemble" || name == "tensor.read" || (name.starts_with("tile.") && !isBlock);
    ir::IRVisitor::VisitExpr_(op);
  }

private:
  const Accumulators &accumulators;
};

/// The kinds of core that a body needs.
struct Kinds {
  bool cube, vector, others;
};
Kinds kindsOf(const ir::StmtPtr &body) {
  Accumulators accumulators;
  accumulators.VisitStmt(body);
  Cores cores(accumulators);
  cores.VisitStmt(body);
  return {cores.cube, cores.vector, cores.others};
}

/// Looks for loops and branches of both kinds of core.
class MixedLoops : public ir::IRVisitor {
public:
  explicit MixedLoops(const Accumulators &accumulators) : accumulators(accumulators) {}
  bool found = false;

protected:
  void VisitStmt_(const ir::ForStmtPtr &op) override { look(op); }
  void VisitStmt_(const ir::WhileStmtPtr &op) override { look(op); }
  void VisitStmt_(const ir::IfStmtPtr &op) override { look(op); }

private:
  void look(const ir::StmtPtr &stmt) {
    Cores cores(accumulators);
    cores.VisitStmt(stmt);
    found |= cores.cube && cores.vector;
  }
  const Accumulators &accumulators;
};

/// Products inside other calls, and what products read of vector operations, as statements of their own.
class ProductHoister : public ir::IRMutator {
public:
  explicit ProductHoister(size_t &count) : count(count) {}
  std::vector<ir::StmtPtr> before;
  ir::ExprPtr top; ///< the value of the statement, which stays

protected:
  ir::ExprPtr VisitExpr_(const ir::CallPtr &op) override {
    bool stays = op == top;
    ir::ExprPtr made = ir::IRMutator::VisitExpr_(op);
    auto call = ir::As<ir::Call>(made);
    if (!call || !isProduct(*call))
      return made;
    std::vector<ir::ExprPtr> operands;
    for (const ir::ExprPtr &operand : call->args_)
      operands.push_back(isComputed(operand) ? bound("operand", operand) : operand);
    if (operands != call->args_) {
      auto other = std::make_shared<ir::Call>(call->op_, std::move(operands), call->kwargs_, call->type_, call->span_);
      other->attrs_ = call->attrs_;
      call = other;
    }
    return stays ? call : bound("product", call);
  }

private:
  static bool isComputed(const ir::ExprPtr &expr) {
    auto call = ir::As<ir::Call>(expr);
    return call && call->op_->name_.starts_with("tensor.") && call->op_->name_ != "tensor.slice";
  }
  ir::ExprPtr bound(const std::string &name, const ir::ExprPtr &value) {
    std::string unique =
        name + (count ? "_" + std::to_string(count) : std::string()); // parameters of kernels have names
    ++count;
    auto var = std::make_shared<const ir::Var>(std::move(unique), value->type_, value->span_);
    before.push_back(std::make_shared<const ir::AssignStmt>(var, value, value->span_));
    return var;
  }
  size_t &count; ///< variables so far
};

} // namespace

/// The statements of a body with products, and what these read, as statements of their own.
static std::vector<ir::StmtPtr> hoisted(const ir::StmtPtr &body) {
  std::vector<ir::StmtPtr> stmts;
  size_t count = 0;
  for (const ir::StmtPtr &stmt : ir::FlattenStmts(body)) {
    ProductHoister hoister(count);
    if (auto assign = ir::As<ir::AssignStmt>(stmt))
      hoister.top = assign->value_;
    bool isPlain = ir::IsA<ir::AssignStmt>(stmt) || ir::IsA<ir::EvalStmt>(stmt);
    ir::StmtPtr made = isPlain ? hoister.VisitStmt(stmt) : stmt;
    stmts.insert(stmts.end(), hoister.before.begin(), hoister.before.end());
    stmts.push_back(made);
  }
  return stmts;
}

/// The variables that hold reshapes of what a body is given: tensors in global memory.
static std::set<const ir::Var *> givenReshapes(const std::vector<ir::StmtPtr> &stmts, const ir::Span &span) {
  std::set<const ir::Var *> given, reshapes;
  for (const ir::VarPtr &var : freeVariables(std::make_shared<const ir::SeqStmts>(stmts, span)))
    if (ir::IsA<ir::TensorType>(var->type_))
      given.insert(var.get());
  for (const ir::StmtPtr &stmt : stmts) {
    auto assign = ir::As<ir::AssignStmt>(stmt);
    auto call = assign ? ir::As<ir::Call>(assign->value_) : nullptr;
    auto of = call && call->op_->name_ == "tensor.reshape" ? ir::As<ir::Var>(call->args_[0]) : nullptr;
    if (of && (given.count(of.get()) || reshapes.count(of.get())))
      reshapes.insert(assign->var_.get());
  }
  return reshapes;
}
static bool binds(const ir::StmtPtr &stmt, const std::set<const ir::Var *> &vars) {
  auto assign = ir::As<ir::AssignStmt>(stmt);
  return assign && vars.count(assign->var_.get());
}

bool mixesCores(const ir::StmtPtr &body) {
  // Orchestrators reshape tensors in global memory, which is no work.
  Accumulators accumulators;
  accumulators.VisitStmt(body);
  Cores cores(accumulators);
  std::vector<ir::StmtPtr> stmts = hoisted(body);
  std::set<const ir::Var *> reshapes = givenReshapes(stmts, body->span_);
  for (const ir::StmtPtr &stmt : stmts)
    if (!binds(stmt, reshapes))
      cores.VisitStmt(stmt);
  return cores.cube && cores.vector;
}

bool mixesInLoops(const ir::StmtPtr &body) {
  Accumulators accumulators;
  accumulators.VisitStmt(body);
  MixedLoops loops(accumulators);
  loops.VisitStmt(body);
  return loops.found;
}

bool launchesKernels(const ir::StmtPtr &body) {
  auto stmts = ir::FlattenStmts(body);
  if (llvm::any_of(stmts, [](const ir::StmtPtr &stmt) { return ir::IsA<ir::InCoreScopeStmt>(stmt); }))
    return true;
  return llvm::all_of(stmts, [](const ir::StmtPtr &stmt) {
    if (ir::IsA<ir::SpmdScopeStmt>(stmt))
      return true;
    ir::ExprPtr value = expressionOf(stmt);
    auto call = ir::As<ir::Call>(value);
    return value && (ir::IsA<ir::TupleGetItemExpr>(value) || (call && ir::IsA<ir::GlobalVar>(call->op_)));
  });
}

namespace {

class Splitter : public ir::IRMutator {
protected:
  /// What blocks compute becomes a kernel.
  ir::StmtPtr VisitStmt_(const ir::SpmdScopeStmtPtr &op) override {
    if (launchesKernels(op->body_))
      return ir::IRMutator::VisitStmt_(op);
    auto scope =
        std::make_shared<const ir::InCoreScopeStmt>(op->body_, op->name_hint_, std::nullopt, op->attrs_, op->span_);
    return std::make_shared<const ir::SpmdScopeStmt>(op->core_num_, op->sync_start_, VisitStmt(scope), op->name_hint_,
                                                     op->attrs_, op->span_);
  }
  ir::StmtPtr VisitStmt_(const ir::InCoreScopeStmtPtr &op) override {
    Accumulators accumulators;
    accumulators.VisitStmt(op->body_);
    Cores cores(accumulators);
    cores.VisitStmt(op->body_);
    return cores.cube && (cores.vector || hasChain(*op)) ? split(*op, accumulators) : op;
  }
  /// What copies outside of scopes is a kernel.
  ir::StmtPtr VisitStmt_(const ir::AssignStmtPtr &op) override {
    auto call = ir::As<ir::Call>(op->value_);
    if (!call || call->op_->name_ != "tensor.assemble")
      return ir::IRMutator::VisitStmt_(op);
    return std::make_shared<const ir::InCoreScopeStmt>(op, "copy", std::nullopt, ir::Attrs(), op->span_);
  }

private:
  using Stmts = std::vector<ir::StmtPtr>;

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

  /// The statements with each accumulator made where it is read first.
  static Stmts sunk(const Stmts &stmts, const Accumulators &accumulators) {
    std::map<const ir::Var *, ir::StmtPtr> waiting;
    Stmts made;
    for (const ir::StmtPtr &stmt : stmts) {
      if (ir::VarPtr created = createdBy(stmt); created && accumulators.has(created.get())) {
        waiting[created.get()] = stmt;
        continue;
      }
      for (const ir::VarPtr &var : freeVariables(stmt))
        if (auto found = waiting.extract(var.get()))
          made.push_back(found.mapped());
      made.push_back(stmt);
    }
    return made;
  }

  /// A loop of both kinds of core as a loop of the orchestrator, with kernels inside; null where it carries what stays
  /// on a core, or is left early.
  ir::StmtPtr lifted(const ir::StmtPtr &stmt, const ir::InCoreScopeStmt &scope, const Accumulators &accumulators) {
    auto loop = ir::As<ir::ForStmt>(stmt);
    if (!loop || llvm::any_of(freeVariables(stmt), [&](const ir::VarPtr &var) { return accumulators.has(var.get()); }))
      return nullptr;
    Stmts stmts = ir::FlattenStmts(loop->body_), end;
    if (!stmts.empty() && ir::IsA<ir::YieldStmt>(stmts.back()))
      end.push_back(stmts.back());
    stmts.resize(stmts.size() - end.size());
    auto isExit = [](const ir::StmtPtr &each) {
      return ir::IsA<ir::BreakStmt>(each) || ir::IsA<ir::ContinueStmt>(each) || ir::IsA<ir::IfStmt>(each);
    };
    if (llvm::any_of(stmts, isExit))
      return nullptr;
    ir::StmtPtr inner = std::make_shared<const ir::SeqStmts>(std::move(stmts), loop->body_->span_);
    Stmts body{VisitStmt(
        std::make_shared<const ir::InCoreScopeStmt>(inner, scope.name_hint_, std::nullopt, scope.attrs_, scope.span_))};
    llvm::append_range(body, end);
    return withBody(*loop, sequence(std::move(body), loop->body_->span_));
  }

  ir::StmtPtr split(const ir::InCoreScopeStmt &scope, const Accumulators &accumulators) {
    Stmts result, run;
    std::set<const ir::Var *> products; // of `run`, narrowed ones too
    std::set<const ir::Var *> bound;    // by `run`
    bool isCube = false;
    Stmts ofBlock; // numbers and views that follow from the block's number: each kernel has those that it reads
    std::set<const ir::Var *> blockVars;
    auto reads = [](const ir::StmtPtr &stmt, const std::set<const ir::Var *> &vars) {
      return llvm::any_of(freeVariables(stmt), [&](const ir::VarPtr &var) { return vars.count(var.get()); });
    };
    auto isOfBlock = [&](const ir::StmtPtr &stmt) {
      auto assign = ir::As<ir::AssignStmt>(stmt);
      BlockNumbers block;
      block.VisitStmt(stmt);
      auto call = assign ? ir::As<ir::Call>(assign->value_) : nullptr;
      bool isView = call && call->op_->name_ == "tensor.slice";
      return assign && (isView || ir::IsA<ir::ScalarType>(assign->var_->type_)) &&
             (block.found || reads(stmt, blockVars));
    };
    auto close = [&] {
      if (run.empty())
        return;
      for (size_t i = ofBlock.size(); i-- > 0;)
        if (reads(std::make_shared<const ir::SeqStmts>(run, scope.span_),
                  {ir::As<ir::AssignStmt>(ofBlock[i])->var_.get()}))
          run.insert(run.begin(), ofBlock[i]);
      ir::StmtPtr body = std::make_shared<const ir::SeqStmts>(std::move(run), scope.span_);
      result.push_back(
          std::make_shared<const ir::InCoreScopeStmt>(body, scope.name_hint_, std::nullopt, scope.attrs_, scope.span_));
      run.clear();
      bound.clear();
      products.clear();
    };
    Stmts stmts = sunk(hoisted(scope.body_), accumulators);
    std::set<const ir::Var *> reshapes = givenReshapes(stmts, scope.span_);
    for (const ir::StmtPtr &stmt : stmts) {
      Cores cores(accumulators);
      cores.VisitStmt(stmt);
      cores.vector &= !binds(stmt, reshapes);
      bool readsRun = reads(stmt, bound);
      auto assign = ir::As<ir::AssignStmt>(stmt);
      if (!cores.cube && !cores.vector && !cores.stores && !readsRun && isOfBlock(stmt)) {
        ofBlock.push_back(stmt);
        blockVars.insert(assign->var_.get());
        continue;
      }
      if (!cores.cube && !cores.vector && !cores.stores && assign && !readsRun) {
        result.push_back(stmt); // numbers and views, which the orchestrator has as well
        continue;
      }
      if (cores.cube && cores.vector && ofBlock.empty())
        if (ir::StmtPtr loop = lifted(stmt, scope, accumulators)) {
          close();
          result.push_back(loop);
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

ir::FunctionPtr splitMixedScopes(const ir::FunctionPtr &orchestrator) {
  return Splitter().VisitFunction(splitLanes(orchestrator));
}

ir::FunctionPtr asOrchestrator(const ir::FunctionPtr &kernel) {
  using Type = ir::FunctionType;
  if ((kernel->func_type_ != Type::InCore && kernel->func_type_ != Type::Opaque) || !kernel->attrs_.empty())
    return nullptr;
  Kinds kinds = kindsOf(kernel->body_);
  return kinds.cube && kinds.vector && !kinds.others ? withScope(kernel) : nullptr;
}

ir::FunctionPtr withScope(const ir::FunctionPtr &kernel) {
  std::vector<ir::StmtPtr> body = ir::FlattenStmts(kernel->body_), around;
  if (ir::IsA<ir::ReturnStmt>(body.back())) {
    around.push_back(body.back());
    body.pop_back();
  }
  auto inner = std::make_shared<const ir::SeqStmts>(std::move(body), kernel->span_);
  around.insert(around.begin(), std::make_shared<const ir::InCoreScopeStmt>(inner, kernel->name_, std::nullopt,
                                                                            ir::Attrs(), kernel->span_));
  auto made = std::make_shared<ir::Function>(*kernel);
  made->func_type_ = ir::FunctionType::Orchestration;
  made->body_ = std::make_shared<const ir::SeqStmts>(std::move(around), kernel->span_);
  return made;
}

} // namespace pto_mlir::pypto_frontend
