// Scopes with pl.split_aiv: what each vector core does becomes a kernel of its own, and what the cube core does between
// becomes others; what one core has of another goes through global memory.
#include "Calls.h"
#include "LaneDivision.h"
#include "Orchestrator.h"
#include "TensorsToTiles.h"
#include "TileNodes.h"

#include "pypto/ir/transforms/base/mutator.h"
#include "llvm/ADT/STLExtras.h"

namespace pto_mlir::pypto_frontend {

namespace ir = pypto::ir;

namespace {

using Stmts = std::vector<ir::StmtPtr>;
using Memory = std::map<const ir::Var *, ir::VarPtr>; ///< tensors that hold values for other cores, by value

/// Kernels of one task run one after another here, so nothing is to be waited for.
bool isSignal(const ir::StmtPtr &stmt) {
  auto call = ir::As<ir::Call>(expressionOf(stmt));
  return call && llvm::is_contained({"system.sync_set", "system.sync_wait", "system.set_ffts"}, call->op_->name_);
}

class Regions : public ir::IRVisitor {
public:
  bool found = false, calls = false;
  std::vector<ir::CallPtr> shards;
  std::vector<std::shared_ptr<const ir::AssignStmt>> gathers;

protected:
  void VisitScopeStmt_(const ir::ScopeStmtPtr &op) override {
    found |= ir::IsA<ir::SplitAivScopeStmt>(op);
    ir::IRVisitor::VisitScopeStmt_(op);
  }
  void VisitExpr_(const ir::CallPtr &op) override {
    calls = true;
    if (isExchange(*op, "aiv_shard"))
      shards.push_back(op);
    ir::IRVisitor::VisitExpr_(op);
  }
  void VisitStmt_(const ir::AssignStmtPtr &op) override {
    if (auto call = ir::As<ir::Call>(op->value_); call && isExchange(*call, "aic_gather"))
      gathers.push_back(op);
    ir::IRVisitor::VisitStmt_(op);
  }
};

Regions regionsOf(const ir::StmtPtr &stmt) {
  Regions regions;
  regions.VisitStmt(stmt);
  return regions;
}

/// Where the half of a lane begins, by axis.
std::vector<ir::ExprPtr> halfOf(const std::vector<ir::ExprPtr> &half, const ir::Call &call, int64_t lane) {
  std::vector<ir::ExprPtr> offsets = zeros(half.size());
  if (auto axis = dividedAxis(*ir::OpView(call).Enum<ir::SplitMode>("mode"), half.size()))
    offsets[*axis] = number(lane * *ir::ConstantInt(half[*axis]));
  return offsets;
}

/// The body of a region as one lane runs it.
class Lane : public ir::IRMutator {
public:
  Lane(const ir::SplitAivScopeStmt &region, int64_t lane, const Memory &memory)
      : region(region), lane(lane), memory(memory) {}

protected:
  ir::ExprPtr VisitExpr_(const ir::VarPtr &op) override {
    return op == region.lane_ ? number(lane) : ir::IRMutator::VisitExpr_(op);
  }
  ir::ExprPtr VisitBinaryExpr_(const ir::BinaryExprPtr &op) override {
    ir::ExprPtr made = ir::IRMutator::VisitBinaryExpr_(op);
    auto binary = ir::As<ir::BinaryExpr>(made);
    auto left = ir::ConstantInt(binary->left_), right = ir::ConstantInt(binary->right_);
    auto type = ir::As<ir::ScalarType>(binary->type_);
    if (!left || !right || !type || type->dtype_ == pypto::DataType::BOOL)
      return made;
    auto value = foldedInteger(binary->kind(), *left, *right);
    return value ? std::make_shared<const ir::ConstInt>(*value, type->dtype_, op->span_) : made;
  }
  ir::ExprPtr VisitExpr_(const ir::CallPtr &op) override {
    if (op->op_->name_ == "tile.get_subblock_idx")
      return number(lane);
    if (isExchange(*op, "aiv_shard"))
      return shard(*op);
    ir::ExprPtr made = ir::IRMutator::VisitExpr_(op);
    auto call = ir::As<ir::Call>(made);
    ir::TypePtr type = typed(call->type_);
    if (type == call->type_)
      return made;
    auto other = std::make_shared<ir::Call>(call->op_, call->args_, call->kwargs_, type, call->span_);
    other->attrs_ = call->attrs_;
    return other;
  }
  ir::VarPtr VisitDef(const ir::VarPtr &var) override {
    ir::TypePtr type = typed(var->type_);
    if (auto carried = ir::As<ir::IterArg>(var)) {
      ir::ExprPtr init = VisitExpr(carried->initValue_);
      return std::make_shared<const ir::IterArg>(var->name_hint_, type, init, var->span_);
    }
    // The second lane's tensors are what is read behind the region: results of stores are the tensors themselves.
    bool stays = lane == 1 && type == var->type_;
    return stays ? var : std::make_shared<const ir::Var>(var->name_hint_, type, var->span_);
  }
  ir::StmtPtr VisitStmt_(const ir::SeqStmtsPtr &op) override {
    Stmts stmts;
    for (const ir::StmtPtr &stmt : ir::FlattenStmts(op)) {
      if (isSignal(stmt))
        continue;
      Stmts outer = std::exchange(before, {});
      ir::StmtPtr made = VisitStmt(stmt);
      llvm::append_range(stmts, before);
      stmts.push_back(made);
      before = std::move(outer);
    }
    return sequence(std::move(stmts), op->span_);
  }
  ir::StmtPtr VisitStmt_(const ir::AssignStmtPtr &op) override {
    auto call = ir::As<ir::Call>(op->value_);
    if (call && isExchange(*call, "aic_gather"))
      return gather(*op, *call);
    if (ir::ExprPtr target = call ? leftAlone(*call) : nullptr)
      return std::make_shared<const ir::AssignStmt>(VisitDef(op->var_), VisitExpr(target), op->span_);
    return ir::IRMutator::VisitStmt_(op);
  }
  ir::StmtPtr VisitStmt_(const ir::EvalStmtPtr &op) override {
    auto call = ir::As<ir::Call>(op->expr_);
    return call && leftAlone(*call) ? sequence({}, op->span_) : ir::IRMutator::VisitStmt_(op);
  }
  /// What is known of a lane decides a branch.
  ir::StmtPtr VisitStmt_(const ir::IfStmtPtr &op) override {
    ir::ExprPtr condition = VisitExpr(op->condition_);
    auto compare = ir::As<ir::BinaryExpr>(condition);
    auto left = compare ? ir::ConstantInt(compare->left_) : std::nullopt;
    auto right = compare ? ir::ConstantInt(compare->right_) : std::nullopt;
    auto holds = left && right ? foldedInteger(compare->kind(), *left, *right) : std::nullopt;
    if (!holds || !op->return_vars_.empty())
      return ir::IRMutator::VisitStmt_(op);
    if (*holds)
      return VisitStmt(op->then_body_);
    return op->else_body_ ? VisitStmt(*op->else_body_) : sequence({}, op->span_);
  }

private:
  /// What a store writes to, if this core has nothing to store; else null.
  ir::ExprPtr leftAlone(const ir::Call &call) const {
    bool isStore = call.op_->name_ == "tile.store", isAssemble = call.op_->name_ == "tensor.assemble";
    if (!isStore && !isAssemble)
      return nullptr;
    ir::ExprPtr source = isStore ? call.args_[0] : ir::OpView(call).Operand("source");
    if (!isEmptyOn(source->type_, region.lane_.get(), lane))
      return nullptr;
    return ir::OpView(call).Operand(isStore ? "out" : "target");
  }
  /// Extents that hold data; none said where this core has nothing, so that what it computes is of no matter.
  std::vector<ir::ExprPtr> validHere(const std::vector<ir::ExprPtr> &extents) {
    std::vector<ir::ExprPtr> made = mapped(extents);
    bool isEmpty = llvm::any_of(made, [](const ir::ExprPtr &extent) { return ir::ConstantInt(extent) == 0; });
    return isEmpty ? std::vector<ir::ExprPtr>() : made;
  }
  std::vector<ir::ExprPtr> mapped(const std::vector<ir::ExprPtr> &extents) {
    std::vector<ir::ExprPtr> made;
    made.reserve(extents.size());
    for (const ir::ExprPtr &extent : extents)
      made.push_back(VisitExpr(extent));
    return made;
  }
  /// A type with the lane's number in its valid extents.
  ir::TypePtr typed(const ir::TypePtr &type) {
    if (auto tile = ir::As<ir::TileType>(type); tile && tile->tile_view_) {
      ir::TileView view = *tile->tile_view_;
      view.valid_shape = validHere(view.valid_shape);
      if (view.valid_shape != tile->tile_view_->valid_shape)
        return std::make_shared<const ir::TileType>(tile->shape_, tile->dtype_, tile->memref_, view,
                                                    tile->memory_space_);
    }
    if (auto tensor = ir::As<ir::TensorType>(type);
        tensor && !ir::IsA<ir::DistributedTensorType>(type) && tensor->tensor_view_) {
      ir::TensorView view = *tensor->tensor_view_;
      view.valid_shape = validHere(view.valid_shape);
      if (view.valid_shape != tensor->tensor_view_->valid_shape)
        return std::make_shared<const ir::TensorType>(tensor->shape_, tensor->dtype_, tensor->memref_, view);
    }
    return type;
  }
  ir::ExprPtr shard(const ir::Call &op) {
    auto source = ir::As<ir::Var>(ir::OpView(op).Operand("x"));
    if (!source)
      fail(op.span_, "aiv_shard takes a value that has a name");
    const std::vector<ir::ExprPtr> &shape = *ir::ShapeOf(op.type_);
    std::vector<ir::ExprPtr> offsets = halfOf(shape, op, lane), valid;
    ir::TypePtr type = typed(op.type_);
    valid = validOf(type);
    bool onTensors = op.op_->name_.starts_with("tensor.");
    if (isEmptyOn(op.type_, region.lane_.get(), lane))
      return ir::CreateOp(onTensors ? "tensor.full" : "tile.full",
                          {{"", shape}, {"dtype", *ir::ElementTypeOf(type)}, {"value", number(0)}}, op.span_);
    ir::ExprPtr from = onTensors ? VisitExpr(source) : ir::ExprPtr(memory.at(source.get()));
    if (onTensors && valid.empty())
      return ir::CreateOp("tensor.slice", {{"", from}, {"", shape}, {"", offsets}}, op.span_);
    ir::Attrs arguments = {{"", from}, {"", offsets}, {"", shape}};
    if (!valid.empty())
      arguments.emplace_back("valid_shape", valid);
    ir::CallPtr load = ir::CreateOp("tile.load", std::move(arguments), op.span_);
    if (!onTensors)
      return load;
    // A tensor that is valid in part is there as a tile only.
    auto bound = [&](const ir::TypePtr &of, const ir::ExprPtr &value) {
      auto var = std::make_shared<const ir::Var>(source->name_hint_ + "_part", of, op.span_);
      before.push_back(std::make_shared<const ir::AssignStmt>(var, value, op.span_));
      return var;
    };
    return bound(type, bound(load->type_, load));
  }
  ir::StmtPtr gather(const ir::AssignStmt &stmt, const ir::Call &op) {
    ir::VarPtr to = memory.at(stmt.var_.get());
    ir::ExprPtr part = VisitExpr(ir::OpView(op).Operand("x"));
    checkJoined(ir::OpView(op).Operand("x")->type_, *ir::OpView(op).Enum<ir::SplitMode>("mode"), op.span_);
    ir::ExprPtr offsets = tuple(halfOf(*ir::ShapeOf(part->type_), op, lane));
    if (ir::IsA<ir::TileType>(part->type_))
      return std::make_shared<const ir::EvalStmt>(ir::CreateOp("tile.store", {part, offsets, to}, op.span_), op.span_);
    auto var = std::make_shared<const ir::Var>(to->name_hint_, to->type_, op.span_);
    return std::make_shared<const ir::AssignStmt>(
        var, ir::CreateOp("tensor.assemble", {ir::ExprPtr(to), part, offsets}, op.span_), op.span_);
  }

  const ir::SplitAivScopeStmt &region;
  int64_t lane;
  const Memory &memory;
  Stmts before; ///< what the statement that is visited needs
};

/// Reads of what is gathered as reads of the tensor that holds it.
class Gathered : public ir::IRMutator {
public:
  explicit Gathered(const Memory &memory) : memory(memory) {}

protected:
  ir::ExprPtr VisitExpr_(const ir::VarPtr &op) override {
    auto found = ir::IsA<ir::TensorType>(op->type_) ? memory.find(op.get()) : memory.end();
    return found == memory.end() ? ir::IRMutator::VisitExpr_(op) : found->second;
  }

private:
  const Memory &memory;
};

/// One scope as several.
class ScopeSplitter {
public:
  ScopeSplitter(const ir::StmtPtr &body, std::string hint, ir::Attrs attrs, Stmts &created)
      : hint(std::move(hint)), attrs(std::move(attrs)), written(writtenTensors(body)), roots(tensorRoots(body)) {
    Regions regions = regionsOf(body);
    for (const ir::CallPtr &shard : regions.shards)
      if (auto var = ir::As<ir::Var>(ir::OpView(*shard).Operand("x")); var && ir::IsA<ir::TileType>(var->type_))
        hold(var, "_shared", created);
    for (const auto &gather : regions.gathers)
      hold(gather->var_, "_joined", created);
  }

  void run(const ir::StmtPtr &body, Stmts &out) {
    Stmts stmts;
    for (const ir::StmtPtr &stmt : ir::FlattenStmts(body)) {
      if (isSignal(stmt))
        continue;
      if (auto region = ir::As<ir::SplitAivScopeStmt>(stmt)) {
        close(stmts, stmt->span_, out);
        for (int64_t lane : {0, 1})
          kernel({Lane(*region, lane, memory).VisitStmt(region->body_)}, stmt->span_, out);
        readBack(*region);
      } else if (regionsOf(stmt).found) {
        close(stmts, stmt->span_, out);
        out.push_back(around(stmt));
      } else {
        add(stmt, stmts, out);
      }
    }
    close(stmts, body->span_, out);
  }

private:
  void hold(const ir::VarPtr &var, const char *suffix, Stmts &created) {
    if (memory.count(var.get()))
      return;
    auto type = std::make_shared<const ir::TensorType>(*ir::ShapeOf(var->type_), *ir::ElementTypeOf(var->type_));
    auto tensor = std::make_shared<const ir::Var>(var->name_hint_ + suffix, type, var->span_);
    memory[var.get()] = tensor;
    created.push_back(creationOf(tensor));
  }

  /// A loop of the orchestrator, with kernels inside.
  ir::StmtPtr around(const ir::StmtPtr &stmt) {
    auto loop = ir::As<ir::ForStmt>(stmt);
    bool carriesTiles = loop && llvm::any_of(loop->iter_args_, [](const ir::IterArgPtr &arg) {
                          return ir::IsA<ir::TileType>(arg->type_);
                        });
    if (!loop || carriesTiles)
      fail(stmt->span_, "pl.split_aiv stands in a scope or in a loop that carries no tiles");
    Stmts stmts = ir::FlattenStmts(loop->body_), body, end;
    if (!stmts.empty() && ir::IsA<ir::YieldStmt>(stmts.back())) {
      end.push_back(stmts.back());
      stmts.pop_back();
    }
    run(sequence(std::move(stmts), loop->body_->span_), body);
    llvm::append_range(body, end);
    return withBody(*loop, sequence(std::move(body), loop->body_->span_));
  }

  void add(const ir::StmtPtr &stmt, Stmts &stmts, Stmts &out) {
    auto assign = ir::As<ir::AssignStmt>(stmt);
    bool isNumber = assign && ir::IsA<ir::ScalarType>(assign->var_->type_);
    auto ofKernel = [&](const ir::VarPtr &var) { return ofKernels.count(var.get()) != 0; };
    if (isNumber && !regionsOf(stmt).calls && llvm::none_of(freeVariables(stmt), ofKernel)) {
      out.push_back(stmt); // the orchestrator has it as well
      return;
    }
    auto isScalar = [](const ir::VarPtr &var) { return ir::IsA<ir::ScalarType>(var->type_); };
    if (isNumber && llvm::all_of(freeVariables(stmt), isScalar)) { // the block's number, and what follows from it
      ofKernels.insert(assign->var_.get());
      definitions.push_back(assign);
      return;
    }
    stmts.push_back(stmt);
    if (!assign)
      return;
    if (isNumber || ir::IsA<ir::TileType>(assign->var_->type_)) {
      ofKernels.insert(assign->var_.get());
      definitions.push_back(assign);
    }
    if (auto found = memory.find(assign->var_.get()); found != memory.end()) {
      ir::ExprPtr offsets = tuple(zeros(found->second->type_ ? shapeOf(found->second).size() : 0));
      ir::CallPtr store = ir::CreateOp("tile.store", {assign->var_, offsets, found->second}, stmt->span_);
      stmts.push_back(std::make_shared<const ir::EvalStmt>(store, stmt->span_));
    }
  }

  /// Tiles that a region gathers are loaded by who reads them.
  void readBack(const ir::SplitAivScopeStmt &region) {
    for (const auto &gather : regionsOf(region.body_).gathers) {
      if (!ir::IsA<ir::TileType>(gather->var_->type_))
        continue;
      ir::VarPtr from = memory.at(gather->var_.get());
      ir::CallPtr load = ir::CreateOp("tile.load",
                                      {{"", ir::ExprPtr(from)},
                                       {"", zeros(shapeOf(from).size())},
                                       {"", shapeOf(from)},
                                       {"target_memory", ir::AsEnumValue(ir::MemorySpace::Mat)}},
                                      gather->span_);
      definitions.push_back(std::make_shared<const ir::AssignStmt>(gather->var_, load, gather->span_));
    }
  }

  void close(Stmts &stmts, const ir::Span &span, Stmts &out) {
    if (!stmts.empty())
      kernel(std::exchange(stmts, {}), span, out);
  }

  /// Numbers and tiles that the statements read of other kernels are computed again.
  void kernel(Stmts stmts, const ir::Span &span, Stmts &out) {
    for (size_t i = definitions.size(); i-- > 0;) {
      const auto &definition = definitions[i];
      std::vector<ir::VarPtr> read = freeVariables(sequence(stmts, span));
      if (!llvm::is_contained(read, definition->var_))
        continue;
      checkRepeatable(*definition);
      stmts.insert(stmts.begin(), definition);
    }
    ir::StmtPtr body = Gathered(memory).VisitStmt(sequence(std::move(stmts), span));
    out.push_back(std::make_shared<const ir::InCoreScopeStmt>(body, hint, std::nullopt, attrs, span));
  }

  void checkRepeatable(const ir::AssignStmt &definition) const {
    auto call = ir::As<ir::Call>(definition.value_);
    for (const ir::ExprPtr &arg : call ? call->args_ : std::vector<ir::ExprPtr>())
      if (auto var = ir::As<ir::Var>(arg); var && ir::IsA<ir::TensorType>(var->type_)) {
        const ir::Var *root = rootOf(roots, var.get());
        if (llvm::any_of(written, [&](const ir::Var *each) { return rootOf(roots, each) == root; }))
          fail(definition.span_, definition.var_->name_hint_ + " is read by another core of " + hint +
                                     ", and its tensor is written there; read it with pl.aiv_shard, or load it again");
      }
  }

  std::string hint;
  ir::Attrs attrs;
  std::set<const ir::Var *> written;
  TensorRoots roots;
  Memory memory;
  std::set<const ir::Var *> ofKernels;
  std::vector<std::shared_ptr<const ir::AssignStmt>> definitions; ///< in order
};

/// Attributes without those that name tasks: launches are ordered by the memory that they share.
ir::Attrs withoutTask(ir::Attrs attrs) {
  static constexpr std::string_view kOfTasks[] = {"task_id_var", "manual_dep_edges", "allow_early_resolve"};
  llvm::erase_if(attrs, [](const auto &attr) { return llvm::is_contained(kOfTasks, attr.first); });
  return attrs;
}

/// A scope of blocks whose body is that of the one kernel which the parser writes in between.
std::shared_ptr<ir::SpmdScopeStmt> withoutKernel(const ir::SpmdScopeStmtPtr &scope) {
  auto op = std::make_shared<ir::SpmdScopeStmt>(*scope);
  op->attrs_ = withoutTask(op->attrs_);
  ir::InCoreScopeStmtPtr kernel = ir::KernelOfBlocks(*op);
  if (!kernel)
    return op;
  op->body_ = kernel->body_;
  op->name_hint_ = kernel->name_hint_;
  for (const auto &attr : withoutTask(kernel->attrs_))
    if (attr.first == "dumps")
      op->attrs_.push_back(attr);
  return op;
}

class LaneSplitter : public ir::IRMutator {
public:
  /// `keepsTasks`: tasks wait for signals without holding up others, so more than memory orders launches.
  explicit LaneSplitter(bool keepsTasks) : keepsTasks(keepsTasks) {}

protected:
  ir::StmtPtr VisitStmt_(const ir::InCoreScopeStmtPtr &scope) override {
    bool isSplit = regionsOf(scope->body_).found;
    if (!isSplit && keepsTasks)
      return scope;
    auto op = std::make_shared<ir::InCoreScopeStmt>(*scope);
    op->attrs_ = withoutTask(op->attrs_);
    if (!isSplit)
      return op;
    Stmts stmts;
    ScopeSplitter splitter(op->body_, op->name_hint_, op->attrs_, stmts);
    splitter.run(op->body_, stmts);
    return sequence(std::move(stmts), op->span_);
  }
  ir::StmtPtr VisitStmt_(const ir::SpmdScopeStmtPtr &scope) override {
    auto op = withoutKernel(scope);
    if (!regionsOf(op->body_).found)
      return op;
    Stmts created, stmts;
    ScopeSplitter splitter(op->body_, op->name_hint_, op->attrs_, created);
    splitter.run(op->body_, stmts);
    created.push_back(std::make_shared<const ir::SpmdScopeStmt>(op->core_num_, op->sync_start_,
                                                                sequence(std::move(stmts), op->body_->span_),
                                                                op->name_hint_, op->attrs_, op->span_));
    return sequence(std::move(created), op->span_);
  }

  bool keepsTasks;
};

} // namespace

ir::FunctionPtr splitLanes(const ir::FunctionPtr &orchestrator) {
  Calls calls;
  calls.VisitStmt(orchestrator->body_);
  return LaneSplitter(calls.defers).VisitFunction(orchestrator);
}

} // namespace pto_mlir::pypto_frontend
