// The two functions of a kernel: the walk over its statements, once for each kind of core.
#include "SplitCores.h"

#include "CoreHomes.h"
#include "LaneDivision.h"
#include "TileBuilder.h"
#include "TileNodes.h"

#include "pypto/ir/transforms/base/mutator.h"
#include "llvm/ADT/STLExtras.h"

namespace pto_mlir::pypto_frontend {

namespace {

using Stmts = std::vector<ir::StmtPtr>;

constexpr int64_t kMaxSlots = 8, kDefaultRingBytes = 64 << 10;

/// Slots of a queue: as many as pl.cross_core_slot says, else what a ring of moderate size holds, and two at least.
int64_t slotsOf(const ir::Function &kernel, int64_t slotBytes) {
  if (const int64_t *said = ir::FindAttr<int64_t>(kernel.attrs_, "slot_num")) {
    if (*said < 1 || *said > kMaxSlots)
      fail(kernel.span_,
           "a queue has 1 to 8 slots, not " + std::to_string(*said) + "; write pl.cross_core_slot(slot_num=2)");
    return *said;
  }
  return kMaxSlots * slotBytes <= kDefaultRingBytes ? kMaxSlots : 2;
}

/// A product of tensors leaves L0C as it is computed there, in FP32; the vector cores round it.
ir::TypePtr handedOn(const ir::TypePtr &type, bool toVector) {
  auto tensor = ir::As<ir::TensorType>(type);
  bool isNarrow = tensor && (tensor->dtype_ == pypto::DataType::FP16 || tensor->dtype_ == pypto::DataType::BF16);
  if (!toVector || !isNarrow)
    return type;
  return std::make_shared<const ir::TensorType>(tensor->shape_, pypto::DataType::FP32, tensor->memref_,
                                                tensor->tensor_view_);
}

/// A queue for one value of the kernel.
struct ValueQueue {
  int64_t id;
  bool toVector;
  int64_t slotBytes;
};

/// The queues by what defines the value; both walks meet the values in the same order.
class Queues {
public:
  const ValueQueue &of(const ir::Var *value, bool toVector, const ir::TypePtr &whole, const ir::Span &span) {
    auto [found, isNew] = byValue.try_emplace(value);
    if (isNew) {
      auto [rows, columns] = extentsOf(*ir::ShapeOf(whole), span);
      int64_t bits = int64_t(ir::ElementTypeOf(whole)->GetBit());
      if (rows <= 0 || columns <= 0 || columns > (int64_t(1) << 32) / rows || rows * columns * bits % 256)
        fail(span, "a value goes from core to core in whole blocks of 32 bytes; this one has " + std::to_string(rows) +
                       " x " + std::to_string(columns) + " elements");
      found->second = {int64_t(byValue.size()) - 1, toVector, rows * columns * bits / 8};
      order.push_back(found->second);
    }
    return found->second;
  }
  const std::vector<ValueQueue> &all() const { return order; }

private:
  std::map<const ir::Var *, ValueQueue> byValue;
  std::vector<ValueQueue> order;
};

/// The statements of one kind of core.
class Side : ir::IRMutator {
public:
  Side(const CoreHomes &homes, Home side, Queues &queues) : homes(homes), side(side), queues(queues) {}

  Stmts run(const ir::StmtPtr &body) { return block(body, nullptr); }
  ir::SplitMode mode = ir::SplitMode::NONE; ///< of the kernel's regions

protected:
  ir::ExprPtr VisitExpr_(const ir::VarPtr &op) override { return replaced(op); }
  ir::ExprPtr VisitExpr_(const ir::IterArgPtr &op) override { return replaced(op); }

private:
  bool isMine(Home home) const { return home == side || home == Home::Both; }
  ir::ExprPtr replaced(const ir::ExprPtr &var) const {
    auto found = stands.find(static_cast<const ir::Var *>(var.get()));
    return found == stands.end() ? var : found->second;
  }

  // Values that go from core to core.

  void push(const ir::VarPtr &value, const ir::VarPtr &key, int64_t split, const ir::TypePtr &whole,
            const ir::Span &span) {
    bool toVector = side == Home::Cube;
    const ValueQueue &queue = queues.of(key.get(), toVector, handedOn(whole, toVector), span);
    std::string name = side == Home::Cube ? "tile.tpush_to_aiv" : "tile.tpush_to_aic";
    ir::Attrs keywords;
    if (split)
      keywords.emplace_back("split", split);
    if (queue.id)
      keywords.emplace_back("id", queue.id);
    auto call = std::make_shared<const ir::Call>(std::make_shared<const ir::Op>(name),
                                                 std::vector<ir::ExprPtr>{replaced(value)}, std::move(keywords),
                                                 ir::UnknownType::Get(), span);
    out->push_back(std::make_shared<const ir::EvalStmt>(call, span));
  }

  /// `var` as a tile of the queue.
  void pop(const ir::VarPtr &var, int64_t split, const ir::TypePtr &whole, const ir::Span &span) {
    bool vector = side == Home::Vector;
    const ValueQueue &queue = queues.of(var.get(), vector, handedOn(whole, vector), span);
    ir::TypePtr held = handedOn(var->type_, vector);
    ir::CallPtr call = ir::CreateOp(
        vector ? "tile.tpop_from_aic" : "tile.tpop_from_aiv",
        {{"", *ir::ShapeOf(var->type_)}, {"", *ir::ElementTypeOf(held)}, {"split", split}, {"id", queue.id}}, span);
    auto tile = std::make_shared<const ir::Var>(var->name_hint_, typeOf(var, call->type_), span);
    out->push_back(std::make_shared<const ir::AssignStmt>(tile, call, span));
    if (held != var->type_) {
      auto product = std::make_shared<const ir::Var>(var->name_hint_, held, span);
      out->push_back(std::make_shared<const ir::AssignStmt>(product, tile, span));
      ir::Attrs rounding{
          {"", ir::ExprPtr(product)}, {"target_type", *ir::ElementTypeOf(var->type_)}, {"mode", std::string("rint")}};
      out->push_back(
          std::make_shared<const ir::AssignStmt>(var, ir::CreateOp("tensor.cast", std::move(rounding), span), span));
    } else if (ir::IsA<ir::TensorType>(var->type_)) {
      out->push_back(std::make_shared<const ir::AssignStmt>(var, tile, span));
    } else {
      stands[var.get()] = tile;
    }
    popped.insert(var.get());
    ir::Attrs arguments{{"", ir::ExprPtr(tile)}, {"split", split}, {"id", queue.id}};
    frees->push_back(std::make_shared<const ir::EvalStmt>(
        ir::CreateOp(vector ? "tile.tfree_to_aic" : "tile.tfree_to_aiv", std::move(arguments), span), span));
  }

  /// The type of a tile of a queue, with the valid extent of what it holds.
  ir::TypePtr typeOf(const ir::VarPtr &var, const ir::TypePtr &type) {
    std::vector<ir::ExprPtr> valid;
    if (auto tile = ir::As<ir::TileType>(var->type_); tile && tile->tile_view_)
      valid = tile->tile_view_->valid_shape;
    else if (auto tensor = ir::As<ir::TensorType>(var->type_); tensor && tensor->tensor_view_)
      valid = tensor->tensor_view_->valid_shape;
    auto made = ir::As<ir::TileType>(type);
    if (valid.empty())
      return type;
    ir::TileView view = ir::TileViewOf(*made);
    for (const ir::ExprPtr &extent : valid)
      view.valid_shape.push_back(VisitExpr(extent));
    return std::make_shared<const ir::TileType>(made->shape_, made->dtype_, made->memref_, view,
                                                made->GetMemorySpace());
  }

  // Statements.

  Stmts block(const ir::StmtPtr &stmts, std::vector<ir::ExprPtr> *yields) {
    Stmts made, freed;
    Stmts *outer = std::exchange(out, &made), *outerFrees = std::exchange(frees, &freed);
    ir::StmtPtr ret;
    for (const ir::StmtPtr &stmt : ir::FlattenStmts(stmts)) {
      if (auto yield = ir::As<ir::YieldStmt>(stmt); yield && yields)
        *yields = yield->value_;
      else if (ir::IsA<ir::ReturnStmt>(stmt))
        ret = stmt;
      else
        withPlace(stmt->span_, [&] { statement(stmt); });
    }
    llvm::append_range(made, freed);
    if (ret)
      made.push_back(VisitStmt(ret));
    out = outer, frees = outerFrees;
    return made;
  }

  void statement(const ir::StmtPtr &stmt) {
    if (auto op = ir::As<ir::AssignStmt>(stmt))
      assign(*op);
    else if (auto op = ir::As<ir::EvalStmt>(stmt))
      keep(isMine(homes.of(stmt.get())), stmt);
    else if (auto op = ir::As<ir::ForStmt>(stmt))
      loop(*op);
    else if (auto op = ir::As<ir::WhileStmt>(stmt))
      loop(*op);
    else if (auto op = ir::As<ir::IfStmt>(stmt))
      branch(*op);
    else if (auto op = ir::As<ir::SplitAivScopeStmt>(stmt))
      region(*op);
    else
      out->push_back(VisitStmt(stmt));
  }
  void keep(bool isKept, const ir::StmtPtr &stmt) {
    if (isKept)
      out->push_back(VisitStmt(stmt));
  }

  void region(const ir::SplitAivScopeStmt &op) {
    if (regions++ && mode != op.mode_)
      fail(op.span_, "the regions of one kernel divide values in one way; give each the same mode");
    mode = op.mode_;
    lane = op.lane_.get();
    inRegion = true;
    if (side == Home::Vector) {
      ir::CallPtr lane = ir::CreateOp("tile.get_subblock_idx", ir::Attrs(), op.span_);
      out->push_back(std::make_shared<const ir::AssignStmt>(op.lane_, lane, op.span_));
    }
    for (const ir::StmtPtr &stmt : ir::FlattenStmts(op.body_))
      statement(stmt);
    inRegion = false;
  }

  void assign(const ir::AssignStmt &stmt) {
    const ir::VarPtr &var = stmt.var_;
    auto call = ir::As<ir::Call>(stmt.value_);
    if (call && (isExchange(*call, "aiv_shard") || isExchange(*call, "aic_gather")))
      return exchange(stmt, *call);
    Home home = homes.of(&stmt);
    if (side == Home::Vector && home == Home::Vector && homes.hasRegions() && !inRegion &&
        !ir::IsA<ir::ScalarType>(var->type_))
      fail(stmt.span_, "a kernel with pl.split_aiv does all that its vector cores do in there; move this into it");
    if (isMine(home)) {
      noteView(stmt);
      if (!storedWhereValid(var, call, stmt.span_))
        out->push_back(std::make_shared<const ir::AssignStmt>(var, VisitExpr(stmt.value_), stmt.span_));
    } else if (homes.rootOf(var.get()) != var.get() && homes.of(var.get()) == Home::Both) {
      stands[var.get()] = VisitExpr(storedTo(*call));
    }
    handOn(var, stmt.span_);
  }

  /// A store of a value of which one vector core has nothing: a core stores what it has. Both take the value from its
  /// queue and free the slot.
  bool storedWhereValid(const ir::VarPtr &var, const std::shared_ptr<const ir::Call> &call, const ir::Span &span) {
    if (!inRegion || !call || homes.rootOf(var.get()) == var.get() || homes.of(var.get()) != Home::Both)
      return false;
    ir::OpView view(*call);
    auto source = view.row()->Find("source") >= 0 ? view.Operand("source") : call->args_[0];
    std::vector<ir::ExprPtr> extents = emptyExtents(source->type_, lane);
    if (extents.empty())
      return false;
    ir::ExprPtr has = ir::MakeBinary(ir::NodeKind::Gt, VisitExpr(extents[0]), number(0), pypto::DataType::BOOL, span);
    ir::StmtPtr store = std::make_shared<const ir::EvalStmt>(VisitExpr(call), span);
    if (call->op_->name_ == "tensor.assemble")
      store = std::make_shared<const ir::AssignStmt>(
          std::make_shared<const ir::Var>(var->name_hint_, var->type_, var->span_), VisitExpr(call), span);
    auto body = std::make_shared<const ir::SeqStmts>(Stmts{store}, span);
    out->push_back(std::make_shared<const ir::IfStmt>(has, body, std::nullopt, std::vector<ir::VarPtr>(), span));
    stands[var.get()] = VisitExpr(storedTo(*call));
    return true;
  }

  /// The value goes to the core that reads it.
  void handOn(const ir::VarPtr &var, const ir::Span &span) {
    if (!homes.crosses(var.get()) || homes.of(var.get()) == Home::Both)
      return;
    if (homes.of(var.get()) == side)
      push(var, var, 0, var->type_, span);
    else
      pop(var, 0, var->type_, span);
  }

  void exchange(const ir::AssignStmt &stmt, const ir::Call &call) {
    bool shards = isExchange(call, "aiv_shard");
    auto source = ir::As<ir::Var>(ir::OpView(call).Operand("x"));
    if (!source)
      fail(call.span_, call.op_->name_ + " takes a value that has a name");
    auto divided = *ir::OpView(call).Enum<ir::SplitMode>("mode");
    ir::TypePtr whole = shards ? source->type_ : stmt.var_->type_;
    int64_t split = shards ? shardCode(whole, divided, call.span_) : joinCode(source->type_, divided, call.span_);
    if ((side == Home::Cube) == shards)
      push(source, stmt.var_, split, whole, call.span_);
    else
      pop(stmt.var_, split, whole, call.span_);
    if (!shards)
      handOn(stmt.var_, stmt.span_);
  }
  static ir::ExprPtr storedTo(const ir::Call &call) {
    ir::OpView view(call);
    for (const char *operand : {"out", "target"})
      if (view.row()->Find(operand) >= 0)
        return view.Operand(operand);
    return call.args_[0];
  }

  /// Views of a tile of a queue end with it.
  void noteView(const ir::AssignStmt &stmt) {
    auto call = ir::As<ir::Call>(stmt.value_);
    auto source = call && !call->args_.empty() ? ir::As<ir::Var>(call->args_[0]) : ir::As<ir::Var>(stmt.value_);
    if (!source || !popped.count(source.get()))
      return;
    std::string name = call ? call->op_->name_.substr(call->op_->name_.find('.') + 1) : "";
    if (!call || llvm::is_contained({"reshape", "slice", "subview", "transpose_view", "set_validshape", "view"}, name))
      popped.insert(stmt.var_.get());
  }
  void checkStays(const ir::ExprPtr &value) const {
    if (auto var = ir::As<ir::Var>(value); var && popped.count(var.get()))
      fail(value->span_, var->name_hint_ +
                             " comes from the other kind of core and is carried as it is; compute with it "
                             "first, as in `pl.add(x, 0.0)`");
  }

  /// Whether this core has what a loop or a branch hands on. One that it does not write stands for what it was.
  bool carries(const ir::VarPtr &var) const {
    bool isTensor = ir::IsA<ir::TensorType>(var->type_) && homes.of(var.get()) == Home::Both;
    return isTensor ? homes.writes(side, var.get()) : isMine(homes.of(var.get()));
  }

  /// Whether this core goes through a loop or a branch, whose condition it has to know.
  bool enters(const ir::Stmt &stmt, const ir::StmtPtr &body) const {
    bool isUsed = homes.uses(body, side);
    if (isUsed && !isMine(homes.of(&stmt)))
      fail(stmt.span_,
           "both kinds of core do something here, but one of them does not know the numbers that decide it");
    return isUsed;
  }

  template <class Loop> void loop(const Loop &stmt) {
    std::vector<ir::IterArgPtr> args;
    std::vector<ir::VarPtr> results;
    std::vector<size_t> kept;
    bool entered = enters(stmt, stmt.body_);
    for (size_t i = 0; i < stmt.iter_args_.size(); ++i) {
      const ir::IterArgPtr &arg = stmt.iter_args_[i];
      if (homes.crosses(arg.get()) && homes.of(arg.get()) != Home::Both)
        fail(stmt.span_, arg->name_hint_ + " is carried by one kind of core and read by the other one in the next "
                                           "iteration, which is not lowered yet; store it to a tensor of its own");
      if (homes.of(arg.get()) == Home::Both && !(entered && carries(arg))) {
        if (ir::IsA<ir::ScalarType>(arg->type_))
          fail(stmt.span_, arg->name_hint_ + " is a number that only the other kind of core computes");
        stands[arg.get()] = stands[stmt.return_vars_[i].get()] = VisitExpr(arg->initValue_);
      } else if (entered && carries(arg)) {
        checkStays(arg->initValue_);
        kept.push_back(i);
        args.push_back(ir::As<ir::IterArg>(VisitDef(arg)));
        stands[arg.get()] = args.back();
        results.push_back(stmt.return_vars_[i]);
      }
    }
    if (entered) {
      std::vector<ir::ExprPtr> yields, mine;
      Stmts stmts = block(stmt.body_, &yields);
      for (size_t i : kept) {
        checkStays(yields[i]);
        mine.push_back(VisitExpr(yields[i]));
      }
      if (!mine.empty())
        stmts.push_back(std::make_shared<const ir::YieldStmt>(std::move(mine), stmt.span_));
      out->push_back(
          remade(stmt, args, std::make_shared<const ir::SeqStmts>(std::move(stmts), stmt.body_->span_), results));
    }
    for (const ir::VarPtr &result : stmt.return_vars_)
      handOn(result, stmt.span_);
  }
  ir::StmtPtr remade(const ir::ForStmt &stmt, std::vector<ir::IterArgPtr> args, const ir::StmtPtr &body,
                     std::vector<ir::VarPtr> results) {
    return std::make_shared<const ir::ForStmt>(stmt.loop_var_, VisitExpr(stmt.start_), VisitExpr(stmt.stop_),
                                               VisitExpr(stmt.step_), std::move(args), body, std::move(results),
                                               stmt.span_, stmt.kind_, stmt.attrs_);
  }
  ir::StmtPtr remade(const ir::WhileStmt &stmt, std::vector<ir::IterArgPtr> args, const ir::StmtPtr &body,
                     std::vector<ir::VarPtr> results) {
    return std::make_shared<const ir::WhileStmt>(VisitExpr(stmt.condition_), std::move(args), body, std::move(results),
                                                 stmt.span_);
  }

  void branch(const ir::IfStmt &stmt) {
    bool entered = enters(stmt, stmt.then_body_) || (stmt.else_body_ && enters(stmt, *stmt.else_body_));
    std::vector<size_t> kept;
    std::vector<ir::VarPtr> results;
    for (size_t i = 0; i < stmt.return_vars_.size(); ++i) {
      const ir::VarPtr &result = stmt.return_vars_[i];
      if (entered && isMine(homes.of(result.get()))) {
        kept.push_back(i);
        results.push_back(result);
      } else if (homes.of(result.get()) == Home::Both) {
        if (ir::IsA<ir::ScalarType>(result->type_))
          fail(stmt.span_, result->name_hint_ + " is a number that only the other kind of core computes");
        stands[result.get()] = replaced(homes.rootVar(result));
      }
    }
    if (entered) {
      auto arm = [&](const ir::StmtPtr &body) -> ir::StmtPtr {
        std::vector<ir::ExprPtr> yields, mine;
        Stmts stmts = block(body, &yields);
        for (size_t i : kept) {
          checkStays(yields[i]);
          mine.push_back(VisitExpr(yields[i]));
        }
        if (!mine.empty())
          stmts.push_back(std::make_shared<const ir::YieldStmt>(std::move(mine), body->span_));
        return std::make_shared<const ir::SeqStmts>(std::move(stmts), body->span_);
      };
      ir::StmtPtr then = arm(stmt.then_body_);
      std::optional<ir::StmtPtr> other;
      if (stmt.else_body_)
        other = arm(*stmt.else_body_);
      out->push_back(
          std::make_shared<const ir::IfStmt>(VisitExpr(stmt.condition_), then, other, std::move(results), stmt.span_));
    }
    for (const ir::VarPtr &result : stmt.return_vars_)
      handOn(result, stmt.span_);
  }
  const CoreHomes &homes;
  Home side;
  Queues &queues;
  Stmts *out = nullptr, *frees = nullptr;
  std::map<const ir::Var *, ir::ExprPtr> stands; ///< what a variable is on this core
  std::set<const ir::Var *> popped;
  int regions = 0;
  const ir::Var *lane = nullptr; ///< of the region
  bool inRegion = false;
};

/// What opens the queues at the top of a function, and names their buffers by its kernel.
Stmts opened(const Queues &queues, Home side, const ir::Function &function) {
  const std::string &kernel = function.name_;
  const ir::Span &span = function.span_;
  Stmts stmts;
  bool isCube = side == Home::Cube;
  auto bind = [&](const ir::CallPtr &call, const std::string &name) {
    auto var = std::make_shared<const ir::Var>(name, call->type_, span);
    stmts.push_back(std::make_shared<const ir::AssignStmt>(var, call, span));
    return var;
  };
  for (const ValueQueue &queue : queues.all()) {
    std::string name = kernel + "_queue" + std::to_string(queue.id);
    bool takes = queue.toVector != isCube;
    int64_t slots = slotsOf(function, queue.slotBytes);
    ir::CallPtr buffer =
        takes ? ir::CreateOp("system.reserve_buffer", {{"name", name}, {"size", slots * queue.slotBytes}}, span)
              : ir::CreateOp("system.import_peer_buffer",
                             {{"name", name}, {"peer_func", kernel + (isCube ? "_aiv" : "_aic")}}, span);
    ir::Attrs arguments{{queue.toVector ? "c2v_consumer_buf" : "v2c_consumer_buf", ir::ExprPtr(bind(buffer, name))},
                        {"dir_mask", int64_t(queue.toVector ? 1 : 2)},
                        {"slot_size", queue.slotBytes},
                        {"id", queue.id}};
    if (slots != kMaxSlots)
      arguments.emplace_back("slot_num", slots);
    ir::CallPtr open =
        ir::CreateOp(isCube ? "system.aic_initialize_pipe" : "system.aiv_initialize_pipe", std::move(arguments), span);
    stmts.push_back(std::make_shared<const ir::EvalStmt>(open, span));
  }
  return stmts;
}

ir::FunctionPtr functionOf(const ir::Function &kernel, const std::string &name, ir::FunctionType type, Stmts stmts,
                           ir::Attrs attrs) {
  auto body = std::make_shared<const ir::SeqStmts>(std::move(stmts), kernel.body_->span_);
  auto made = std::make_shared<ir::Function>(name, kernel.params_, kernel.return_types_, body, kernel.span_, type,
                                             kernel.param_directions_);
  made->level_ = kernel.level_, made->role_ = kernel.role_, made->attrs_ = std::move(attrs);
  return made;
}

} // namespace

ir::FunctionPtr groupOf(const ir::Function &kernel, const std::string &cube, const std::string &vector) {
  std::vector<ir::ExprPtr> arguments(kernel.params_.begin(), kernel.params_.end());
  auto call = [&](const std::string &name) {
    ir::TypePtr type = ir::UnknownType::Get();
    if (kernel.return_types_.size() == 1)
      type = kernel.return_types_[0];
    else if (!kernel.return_types_.empty())
      type = std::make_shared<const ir::TupleType>(kernel.return_types_);
    return std::make_shared<const ir::Call>(std::make_shared<const ir::GlobalVar>(name), arguments, ir::Attrs(), type,
                                            kernel.span_);
  };
  Stmts stmts{std::make_shared<const ir::EvalStmt>(call(cube), kernel.span_)};
  if (kernel.return_types_.empty()) {
    stmts.push_back(std::make_shared<const ir::EvalStmt>(call(vector), kernel.span_));
  } else {
    auto made = call(vector);
    auto var = std::make_shared<const ir::Var>("results", made->type_, kernel.span_);
    stmts.push_back(std::make_shared<const ir::AssignStmt>(var, made, kernel.span_));
    std::vector<ir::ExprPtr> values{var};
    if (kernel.return_types_.size() > 1) {
      values.clear();
      for (size_t i = 0; i < kernel.return_types_.size(); ++i) {
        values.push_back(std::make_shared<const ir::Var>("result", kernel.return_types_[i], kernel.span_));
        stmts.push_back(std::make_shared<const ir::AssignStmt>(
            ir::As<ir::Var>(values.back()), std::make_shared<const ir::TupleGetItemExpr>(var, int64_t(i), kernel.span_),
            kernel.span_));
      }
    }
    stmts.push_back(std::make_shared<const ir::ReturnStmt>(std::move(values), kernel.span_));
  }
  return functionOf(kernel, kernel.name_, ir::FunctionType::Group, std::move(stmts), {});
}

namespace {

void checkResults(const ir::StmtPtr &body, const CoreHomes &homes) {
  for (const ir::StmtPtr &stmt : ir::FlattenStmts(body))
    if (auto ret = ir::As<ir::ReturnStmt>(stmt))
      for (const ir::ExprPtr &value : ret->value_)
        if (auto var = ir::As<ir::Var>(value); !var || homes.of(var.get()) != Home::Both)
          fail(stmt->span_, "a kernel of both kinds of core returns tensors that it got; store this to one of them");
}

} // namespace

std::optional<CoreFunctions> splitCores(const ir::FunctionPtr &kernel) {
  ir::StmtPtr body = withNamedOperations(kernel->body_);
  CoreHomes homes(body);
  if (!homes.isMixed())
    return std::nullopt;
  checkResults(body, homes);
  Queues queues;
  Side cube(homes, Home::Cube, queues), vector(homes, Home::Vector, queues);
  Stmts cubeStmts = cube.run(body), vectorStmts = vector.run(body);
  auto function = [&](Home side, Stmts &stmts) {
    bool isCube = side == Home::Cube;
    Stmts whole = opened(queues, side, *kernel);
    llvm::append_range(whole, stmts);
    ir::Attrs attrs;
    if (homes.hasRegions())
      attrs = {{"split", ir::AsEnumValue(vector.mode)}, {"split_aiv", true}};
    return functionOf(*kernel, kernel->name_ + (isCube ? "_aic" : "_aiv"),
                      isCube ? ir::FunctionType::AIC : ir::FunctionType::AIV, std::move(whole), std::move(attrs));
  };
  return CoreFunctions{function(Home::Cube, cubeStmts), function(Home::Vector, vectorStmts),
                       groupOf(*kernel, kernel->name_ + "_aic", kernel->name_ + "_aiv")};
}

} // namespace pto_mlir::pypto_frontend
