// A kernel of both kinds of core under pl.split: each vector core computes its half of the values that a queue divides.
#include "LaneDivision.h"
#include "SplitCores.h"
#include "TileNodes.h"

#include "pypto/ir/structural.h"
#include "pypto/ir/transforms/base/mutator.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

namespace pto_mlir::pypto_frontend {

namespace {

/// Why the vector cores' part stays whole: the first one does all of it then, and both take all tiles.
struct Undivided {};

struct Transport {
  int64_t code = 0;
  std::optional<int64_t> stride; ///< where the second part begins, if that is not half of the box
};
using Transports = std::map<int64_t, Transport>; ///< by the queue's id

/// Operations that compute each element of a row or column from the same ones of their operands. Sums of the axis that
/// is divided show in the type of the result.
bool worksByParts(llvm::StringRef op) {
  op = op.substr(op.find('.') + 1);
  return op.starts_with("row_expand_") || op.starts_with("col_expand_") ||
         llvm::is_contained({"add",     "adds",    "sub",      "subs",     "mul",           "muls",    "div",
                             "divs",    "maximum", "minimum",  "exp",      "log",           "sqrt",    "rsqrt",
                             "neg",     "abs",     "recip",    "relu",     "cast",          "full",    "row_sum",
                             "row_max", "row_min", "sin",      "cos",      "col_sum",       "col_max", "col_min",
                             "sigmoid", "tanh",    "maximums", "minimums", "create_tensor", "create"},
                            op);
}

using Types = std::vector<ir::TypePtr>; ///< of halves; null for what stays whole

bool isPop(const ir::Call &call) { return call.op_->name_ == "tile.tpop_from_aic"; }

/// With other keywords of a queue.
ir::CallPtr onTransport(const ir::Call &call, const Transport &transport) {
  auto made = std::make_shared<ir::Call>(call);
  std::erase_if(made->kwargs_, [](const auto &attr) { return attr.first == "split"; });
  if (transport.code)
    made->kwargs_.emplace_back("split", transport.code);
  const ir::OpRow &row = *ir::OpView(call).row();
  if (transport.stride && row.Find("lane_stride") >= 0)
    made->kwargs_.emplace_back("lane_stride", *transport.stride);
  llvm::stable_sort(made->kwargs_, [&](const auto &a, const auto &b) { return row.Find(a.first) < row.Find(b.first); });
  return made;
}

int64_t queueOf(const ir::Call &call) {
  const int64_t *id = ir::FindAttr<int64_t>(call.kwargs_, "id");
  return id ? *id : 0;
}

/// The statements of the vector cores for one of them.
class Halver : public ir::IRMutator {
public:
  Halver(ir::SplitMode mode, ir::VarPtr lane, Transports &transports, bool takesUneven)
      : mode(mode), lane(std::move(lane)), transports(transports), takesUneven(takesUneven) {}
  /// A value that no queue brings is divided as well; and the part of one that only a stride of its own divides.
  bool hasIndependent = false;
  std::optional<std::pair<int64_t, int64_t>> uneven;
  bool isRebalanced = false;
  ir::Span place = ir::Span::unknown();

protected:
  ir::ExprPtr VisitExpr_(const ir::VarPtr &op) override { return replaced(op); }
  ir::ExprPtr VisitExpr_(const ir::IterArgPtr &op) override { return replaced(op); }
  ir::StmtPtr VisitStmt_(const ir::ForStmtPtr &op) override { return loop(op); }
  ir::StmtPtr VisitStmt_(const ir::WhileStmtPtr &op) override { return loop(op); }
  ir::StmtPtr VisitStmt_(const ir::IfStmtPtr &op) override { return handingOn(op, {}); }
  ir::StmtPtr VisitStmt_(const ir::SeqStmtsPtr &op) override {
    std::vector<ir::StmtPtr> made;
    for (const ir::StmtPtr &stmt : ir::FlattenStmts(op)) {
      auto outer = std::exchange(before, {});
      ir::StmtPtr next = VisitStmt(stmt);
      llvm::append_range(made, before);
      made.push_back(next);
      before = std::move(outer);
    }
    return std::make_shared<const ir::SeqStmts>(std::move(made), op->span_);
  }
  ir::StmtPtr VisitStmt_(const ir::AssignStmtPtr &op) override {
    auto call = ir::As<ir::Call>(op->value_);
    if (auto from = ir::As<ir::Var>(op->value_); from && halves.count(from.get())) {
      ir::ExprPtr value = halves.at(from.get());
      bool isTensor = ir::IsA<ir::TensorType>(op->var_->type_);
      return bound(op, isTensor ? asTensor(value->type_) : value->type_, value);
    }
    if (call && ir::IsA<ir::ScalarType>(op->var_->type_) && readsHalves(*call))
      throw Undivided(); // an element of the whole
    if (!call || ir::IsA<ir::ScalarType>(op->var_->type_))
      return ir::IRMutator::VisitStmt_(op);
    if (isPop(*call))
      return popped(op, *call);
    if (call->op_->name_ == "tensor.assemble" || call->op_->name_ == "tile.store")
      return stored(op, *call);
    if (worksByParts(call->op_->name_))
      return computed(op, *call);
    if (call->op_->name_ == "tensor.slice" && !readsHalves(*call)) // of global memory, divided where it is read
      return op;
    if (call->op_->name_ == "tile.load")
      return loaded(op, *call);
    if (readsHalves(*call) || ir::IsA<ir::TileType>(op->var_->type_))
      throw Undivided();
    return op;
  }
  ir::StmtPtr VisitStmt_(const ir::EvalStmtPtr &op) override {
    auto call = ir::As<ir::Call>(op->expr_);
    llvm::StringRef name = call ? llvm::StringRef(call->op_->name_) : "";
    if (name == "tile.tfree_to_aic" || name == "tile.tpush_to_aic") {
      auto tile = ir::As<ir::Var>(call->args_[0]);
      if (!tile || !halves.count(tile.get()))
        throw Undivided();
      ir::CallPtr next = std::make_shared<const ir::Call>(call->op_, std::vector<ir::ExprPtr>{replaced(tile)},
                                                          call->kwargs_, call->type_, call->span_);
      if (name == "tile.tpush_to_aic") {
        if (isRebalanced)
          throw Undivided();
        transports[queueOf(*call)].code = joinCode(replaced(tile)->type_, mode, op->span_);
      }
      return std::make_shared<const ir::EvalStmt>(onTransport(*next, transports[queueOf(*call)]), op->span_);
    }
    if (name == "tile.store")
      return storedWhereValid(*call, nullptr, op->span_);
    if (!name.starts_with("system."))
      throw Undivided();
    return op;
  }
  ir::StmtPtr VisitStmt_(const ir::YieldStmtPtr &op) override {
    Types types;
    for (auto [value, result] : llvm::zip_equal(op->value_, results))
      types.push_back(handedOn[result.get()] = halfType(value, result->type_));
    yields.push_back(std::move(types));
    return ir::IRMutator::VisitStmt_(op);
  }
  /// What a loop or a branch hands on is a half where what it begins with, or what its arms yield, is one.
  ir::VarPtr VisitDef(const ir::VarPtr &var) override {
    auto carried = ir::As<ir::IterArg>(var);
    ir::TypePtr type = nullptr;
    if (carried)
      type = halfType(carried->initValue_, var->type_);
    else if (auto found = handedOn.find(var.get()); found != handedOn.end())
      type = found->second;
    if (!type)
      return ir::IRMutator::VisitDef(var);
    ir::VarPtr half;
    if (carried)
      half = std::make_shared<const ir::IterArg>(var->name_hint_, type, replaced(carried->initValue_), var->span_);
    else
      half = std::make_shared<const ir::Var>(var->name_hint_, type, var->span_);
    halves[var.get()] = half;
    return half;
  }

private:
  ir::ExprPtr replaced(const ir::ExprPtr &var) const {
    auto found = halves.find(static_cast<const ir::Var *>(var.get()));
    return found == halves.end() ? var : found->second;
  }
  bool readsHalves(const ir::Call &call) const {
    return llvm::any_of(call.args_, [&](const ir::ExprPtr &arg) {
      auto var = ir::As<ir::Var>(arg);
      return var && halves.count(var.get());
    });
  }
  /// The type of a value's half, for a variable of the type `whole`; null for a value that stays whole.
  ir::TypePtr halfType(const ir::ExprPtr &value, const ir::TypePtr &whole) const {
    auto found = halves.find(static_cast<const ir::Var *>(value.get()));
    if (found == halves.end())
      return nullptr;
    return ir::IsA<ir::TensorType>(whole) ? asTensor(found->second->type_) : found->second->type_;
  }
  template <class Loop> ir::StmtPtr loop(const std::shared_ptr<const Loop> &op) {
    Types starts;
    for (const ir::IterArgPtr &arg : op->iter_args_)
      starts.push_back(halfType(arg->initValue_, arg->type_));
    return handingOn(op, {starts});
  }
  template <class Stmt> ir::StmtPtr handingOn(const std::shared_ptr<const Stmt> &op, std::vector<Types> types) {
    auto outer = std::exchange(yields, std::move(types));
    auto outerResults = std::exchange(results, op->return_vars_);
    ir::StmtPtr made = ir::IRMutator::VisitStmt_(op);
    for (const Types &each : yields)
      checkAlike(each, yields.front());
    yields = std::move(outer), results = std::move(outerResults);
    return made;
  }
  /// One variable holds all of these, so they are divided alike.
  static void checkAlike(const Types &types, const Types &others) {
    auto isAlike = [](const ir::TypePtr &a, const ir::TypePtr &b) {
      if (!a || !b)
        return !a && !b;
      return ir::structural_equal(tuple(*ir::ShapeOf(a)), tuple(*ir::ShapeOf(b))) &&
             ir::structural_equal(tuple(validOf(a)), tuple(validOf(b)));
    };
    for (auto [type, other] : llvm::zip_equal(types, others))
      if (!isAlike(type, other))
        throw Undivided();
  }
  size_t axisOf(const std::vector<ir::ExprPtr> &shape) const {
    if (shape.size() != 2)
      throw Undivided();
    return *dividedAxis(mode, 2);
  }
  /// The half of an extent; nothing for one that both cores need.
  std::optional<int64_t> halfOf(const std::vector<ir::ExprPtr> &shape) const {
    auto extent = ir::ConstantInt(shape[axisOf(shape)]);
    if (!extent)
      throw Undivided();
    return *extent == 1 ? std::nullopt : std::optional((*extent + 1) / 2);
  }
  ir::ExprPtr moved(const ir::ExprPtr &offset, int64_t half) const {
    return sum(ir::MakeBinary(ir::NodeKind::Mul, lane, number(half), pypto::DataType::INDEX, offset->span_), offset);
  }
  static ir::TypePtr asTensor(const ir::TypePtr &tile) {
    std::optional<ir::TensorView> view;
    if (std::vector<ir::ExprPtr> valid = validOf(tile); !valid.empty()) {
      view.emplace();
      view->valid_shape = std::move(valid);
    }
    return std::make_shared<const ir::TensorType>(*ir::ShapeOf(tile), *ir::ElementTypeOf(tile), std::nullopt, view);
  }
  ir::StmtPtr bound(const ir::AssignStmtPtr &op, const ir::TypePtr &type, const ir::ExprPtr &value) {
    auto var = std::make_shared<const ir::Var>(op->var_->name_hint_, type, op->var_->span_);
    halves[op->var_.get()] = var;
    return std::make_shared<const ir::AssignStmt>(var, value, op->span_);
  }

  ir::StmtPtr popped(const ir::AssignStmtPtr &op, const ir::Call &call) {
    const ir::TypePtr &whole = op->var_->type_;
    std::vector<ir::ExprPtr> shape = *ir::ShapeOf(whole), valid = validOf(whole);
    size_t axis = axisOf(shape);
    auto half = halfOf(shape);
    if (!half)
      throw Undivided();
    Transport &transport = transports[queueOf(call)];
    auto data = ir::ConstantInt(valid.empty() ? shape[axis] : valid[axis]);
    bool isRows = mode == ir::SplitMode::UP_DOWN;
    if (isRows && data && *data > *half && 2 * *half - *data > 1) { // equal parts of what is valid
      uneven = {*half, *data - *half};
      place = op->span_;
      half = transport.stride = (*data + 1) / 2;
      transport.code = *data % 2 ? 3 : 1;
      isRebalanced = true;
    } else {
      transport.code = shardCode(whole, mode, op->span_);
    }
    bool isWhole = data && *data == 2 * *half;
    if (!isWhole && !takesUneven)
      throw Undivided();
    if (valid.empty())
      valid = shape;
    if (!data)
      throw Undivided();
    ir::ExprPtr left = ir::MakeBinary(ir::NodeKind::Mul, lane, number(*half), pypto::DataType::INDEX, op->span_);
    left = ir::MakeBinary(ir::NodeKind::Sub, number(*data), left, pypto::DataType::INDEX, op->span_);
    valid[axis] =
        isWhole ? number(*half)
                : ir::ExprPtr(ir::MakeBinary(*data > *half ? ir::NodeKind::Min : ir::NodeKind::Max, left,
                                             number(*data > *half ? *half : 0), pypto::DataType::INDEX, op->span_));
    shape[axis] = number(*half);
    ir::Attrs arguments{{"", shape}, {"", *ir::ElementTypeOf(whole)}, {"id", queueOf(call)}};
    ir::CallPtr pop = onTransport(*ir::CreateOp("tile.tpop_from_aic", std::move(arguments), op->span_), transport);
    ir::TypePtr type = pop->type_;
    if (!isWhole || !validOf(whole).empty()) {
      auto tile = ir::As<ir::TileType>(type);
      ir::TileView view = ir::TileViewOf(*tile);
      view.valid_shape = valid;
      type =
          std::make_shared<const ir::TileType>(tile->shape_, tile->dtype_, tile->memref_, view, tile->GetMemorySpace());
    }
    return bound(op, type, pop);
  }

  /// A part of a tensor in global memory, of rows or columns that this core computes.
  ir::ExprPtr part(const ir::VarPtr &tensor) {
    const std::vector<ir::ExprPtr> &whole = shapeOf(tensor);
    if (whole.size() != 2 || !validOf(tensor->type_).empty())
      throw Undivided();
    auto half = halfOf(whole);
    if (!half)
      return tensor;
    if (ir::ConstantInt(whole[axisOf(whole)]).value_or(1) % 2)
      throw Undivided();
    hasIndependent = true;
    std::vector<ir::ExprPtr> shape = whole, offsets = zeros(2);
    shape[axisOf(shape)] = number(*half);
    offsets[axisOf(shape)] = moved(number(0), *half);
    ir::CallPtr slice =
        ir::CreateOp("tensor.slice", {{"", ir::ExprPtr(tensor)}, {"", shape}, {"", offsets}}, tensor->span_);
    auto var = std::make_shared<const ir::Var>(tensor->name_hint_ + "_half", slice->type_, tensor->span_);
    before.push_back(std::make_shared<const ir::AssignStmt>(var, slice, tensor->span_));
    return var;
  }

  ir::StmtPtr loaded(const ir::AssignStmtPtr &op, const ir::Call &call) {
    ir::OpView view(call);
    std::vector<ir::ExprPtr> shape = view.Elements("shapes"), offsets = view.Elements("offsets");
    if (!view.Elements("valid_shape").empty() || !validOf(call.type_).empty())
      throw Undivided();
    auto half = halfOf(shape);
    if (!half)
      return op;
    size_t axis = axisOf(shape);
    if (ir::ConstantInt(shape[axis]).value_or(1) % 2)
      throw Undivided();
    hasIndependent = true;
    shape[axis] = number(*half);
    offsets[axis] = moved(offsets[axis], *half);
    ir::CallPtr load = ir::CreateOp("tile.load", {{"", view.Operand("tensor")}, {"", offsets}, {"", shape}}, op->span_);
    return bound(op, load->type_, load);
  }

  ir::StmtPtr computed(const ir::AssignStmtPtr &op, const ir::Call &call) {
    const std::vector<ir::ExprPtr> &whole = *ir::ShapeOf(op->var_->type_);
    auto half = halfOf(whole);
    bool takesParts = readsHalves(call);
    ir::Attrs arguments;
    for (const ir::OpParam &param : ir::OpView(call).row()->params) {
      ir::ExprPtr operand = param.operand ? ir::OpView(call).Operand(param.name) : nullptr;
      if (!operand)
        continue;
      auto var = ir::As<ir::Var>(operand);
      if (param.name == "shape") {
        std::vector<ir::ExprPtr> shape = whole;
        hasIndependent |= half.has_value();
        if (half)
          shape[axisOf(shape)] = number(*half);
        operand = tuple(shape);
      } else if (var && halves.count(var.get())) {
        operand = replaced(var);
      } else if (var && ir::IsA<ir::TensorType>(var->type_)) {
        operand = part(var);
        takesParts |= operand != ir::ExprPtr(var);
      }
      arguments.emplace_back(std::string(param.name), operand);
    }
    llvm::append_range(arguments, call.kwargs_);
    ir::CallPtr made = ir::CreateOp(call.op_->name_, std::move(arguments), op->span_);
    const std::vector<ir::ExprPtr> &shape = *ir::ShapeOf(made->type_);
    size_t axis = axisOf(shape);
    // With a stride of its own a part is no half of the box.
    auto extent = ir::ConstantInt(shape[axis]);
    bool isPart = half && extent && (isRebalanced ? *extent <= *half : extent == half);
    if (half ? !isPart : takesParts)
      throw Undivided();
    return bound(op, made->type_, made);
  }

  ir::StmtPtr stored(const ir::AssignStmtPtr &op, const ir::Call &call) {
    return storedWhereValid(call, op->var_, op->span_);
  }
  ir::StmtPtr storedWhereValid(const ir::Call &call, const ir::VarPtr &var, const ir::Span &span) {
    ir::OpView view(call);
    bool isStore = call.op_->name_ == "tile.store";
    ir::ExprPtr source = isStore ? call.args_[0] : view.Operand("source");
    ir::ExprPtr target = view.Operand(isStore ? "out" : "target");
    auto value = ir::As<ir::Var>(source);
    if (!value || !halves.count(value.get()) || halves.count(static_cast<const ir::Var *>(target.get())))
      throw Undivided();
    source = replaced(value);
    const std::vector<ir::ExprPtr> &shape = *ir::ShapeOf(source->type_);
    size_t axis = axisOf(shape);
    auto extent = ir::ConstantInt(shape[axis]);
    std::vector<ir::ExprPtr> offsets = view.Elements(isStore ? "offsets" : "offset");
    if (isStore && view.Operand("shapes"))
      throw Undivided();
    if (!halfOf(shapeOf(value)) || !extent || offsets.size() != 2)
      throw Undivided();
    offsets[axis] = moved(offsets[axis], *extent);
    ir::Attrs arguments{{"", source}};
    if (isStore)
      arguments = {{"", source}, {"", offsets}, {"", target}};
    else
      arguments = {{"", target}, {"", source}, {"", offsets}};
    llvm::append_range(arguments, call.kwargs_);
    ir::CallPtr store = ir::CreateOp(call.op_->name_, std::move(arguments), span);
    std::vector<ir::ExprPtr> extents = emptyExtents(source->type_, lane.get());
    if (extents.empty())
      return var ? ir::StmtPtr(std::make_shared<const ir::AssignStmt>(var, store, span))
                 : std::make_shared<const ir::EvalStmt>(store, span);
    if (!var)
      return where(extents[0], std::make_shared<const ir::EvalStmt>(store, span), span);
    auto inside = std::make_shared<const ir::Var>(var->name_hint_, var->type_, var->span_);
    before.push_back(where(extents[0], std::make_shared<const ir::AssignStmt>(inside, store, span), span));
    return std::make_shared<const ir::AssignStmt>(var, target, span);
  }
  static ir::StmtPtr where(const ir::ExprPtr &extent, const ir::StmtPtr &stmt, const ir::Span &span) {
    ir::ExprPtr has = ir::MakeBinary(ir::NodeKind::Gt, extent, number(0), pypto::DataType::BOOL, span);
    auto body = std::make_shared<const ir::SeqStmts>(std::vector<ir::StmtPtr>{stmt}, span);
    return std::make_shared<const ir::IfStmt>(has, body, std::nullopt, std::vector<ir::VarPtr>(), span);
  }

  ir::SplitMode mode;
  ir::VarPtr lane;
  Transports &transports;
  bool takesUneven;
  std::map<const ir::Var *, ir::ExprPtr> halves;
  std::map<const ir::Var *, ir::TypePtr> handedOn; ///< halves that loops and branches end with
  std::vector<Types> yields;       ///< of the loop or branch that is visited, and what a loop begins with
  std::vector<ir::VarPtr> results; ///< its variables
  std::vector<ir::StmtPtr> before; ///< what the statement that is visited needs
};

/// The cube core's ends of the queues.
class CubeEnds : public ir::IRMutator {
public:
  explicit CubeEnds(const Transports &transports) : transports(transports) {}

protected:
  ir::ExprPtr VisitExpr_(const ir::CallPtr &op) override {
    bool isEnd = llvm::is_contained({"tile.tpush_to_aiv", "tile.tpop_from_aiv", "tile.tfree_to_aiv"}, op->op_->name_);
    auto found = isEnd ? transports.find(queueOf(*op)) : transports.end();
    return found == transports.end() ? ir::IRMutator::VisitExpr_(op) : onTransport(*op, found->second);
  }

private:
  const Transports &transports;
};

ir::FunctionPtr withHalves(const ir::Function &function, const ir::StmtPtr &body, ir::SplitMode mode) {
  auto made = std::make_shared<ir::Function>(function.name_, function.params_, function.return_types_, body,
                                             function.span_, function.func_type_, function.param_directions_);
  made->level_ = function.level_, made->role_ = function.role_;
  made->attrs_ = {{"split", ir::AsEnumValue(mode)}, {"split_aiv", true}};
  return made;
}

} // namespace

CoreFunctions splitHalves(const CoreFunctions &cores, ir::SplitMode mode, bool takesUneven) {
  const ir::Function &vector = *cores.vector;
  ir::CallPtr which = ir::CreateOp("tile.get_subblock_idx", ir::Attrs(), vector.span_);
  auto lane = std::make_shared<const ir::Var>("subblock_idx", which->type_, vector.span_);
  Transports transports;
  Halver halver(mode, lane, transports, takesUneven);
  ir::StmtPtr half;
  try {
    half = halver.VisitStmt(vector.body_);
  } catch (const Undivided &) {
    return cores;
  } catch (const pypto::Error &) { // an operation that does not take parts
    return cores;
  }
  if (halver.isRebalanced && halver.hasIndependent)
    fail(halver.place, "this leaves the two AIV lanes " + std::to_string(halver.uneven->first) + " and " +
                           std::to_string(halver.uneven->second) +
                           " cells, and an independently split value of the kernel keeps it from being divided "
                           "otherwise; make " +
                           std::to_string(2 * halver.uneven->first) + " / " +
                           std::to_string(2 * halver.uneven->first - 1) +
                           " rows valid with `pl.tile.set_validshape`, or compute that value in a scope of its own");
  if (transports.empty())
    return cores;
  std::vector<ir::StmtPtr> stmts{std::make_shared<const ir::AssignStmt>(lane, which, vector.span_)};
  llvm::append_range(stmts, ir::FlattenStmts(half));
  auto body = std::make_shared<const ir::SeqStmts>(std::move(stmts), vector.body_->span_);
  return {withHalves(*cores.cube, CubeEnds(transports).VisitStmt(cores.cube->body_), mode),
          withHalves(vector, body, mode), cores.group};
}

} // namespace pto_mlir::pypto_frontend
