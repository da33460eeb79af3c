// Functions of cube and vector cores that run together, and the queues between them.
#include "Groups.h"

#include "Types.h"

#include "pypto/ir/op_registry.h"
#include "pypto/ir/transforms/base/mutator.h"
#include "pypto/ir/transforms/base/visitor.h"

namespace pto_mlir::pypto_frontend {

namespace ir = pypto::ir;

namespace {

bool opensQueue(const ir::Call &op) {
  return op.op_->name_ == "system.aic_initialize_pipe" || op.op_->name_ == "system.aiv_initialize_pipe";
}

class QueueSizes : public ir::IRVisitor {
public:
  std::map<int64_t, int64_t> words; ///< by id

protected:
  void VisitExpr_(const ir::CallPtr &op) override {
    if (opensQueue(*op)) {
      ir::OpView call(*op);
      int64_t bytes = *call.Keyword<int64_t>("slot_size");
      if (bytes <= 0 || bytes > (1 << 24) || bytes % 4)
        fail(op->span_, "slot_size is the bytes of a tile, a multiple of 4 up to 16 MiB, not " + std::to_string(bytes));
      words[*call.Keyword<int64_t>("id")] = 8 * bytes / 4;
    }
    ir::IRVisitor::VisitExpr_(op);
  }
};

class Events : public ir::IRVisitor {
public:
  bool found = false;

protected:
  void VisitExpr_(const ir::CallPtr &op) override {
    found |= op->op_->name_ == "system.sync_set" || op->op_->name_ == "system.sync_wait";
    ir::IRVisitor::VisitExpr_(op);
  }
};

class WholeTiles : public ir::IRMutator {
protected:
  ir::ExprPtr VisitExpr_(const ir::CallPtr &op) override {
    if (op->op_->name_ == "tile.get_subblock_idx")
      return std::make_shared<const ir::ConstInt>(0, pypto::DataType::INDEX, op->span_);
    ir::ExprPtr made = ir::IRMutator::VisitExpr_(op);
    auto call = ir::As<ir::Call>(made);
    if (!call || !ir::FindAttr(call->kwargs_, "split"))
      return made;
    auto whole = std::make_shared<ir::Call>(*call);
    for (auto &[name, value] : whole->kwargs_)
      if (name == "split")
        value = int64_t(0);
    return whole;
  }
};

ir::FunctionPtr withParams(const ir::Function &function, std::vector<ir::VarPtr> params,
                           std::vector<ir::ParamDirection> directions) {
  auto made = std::make_shared<ir::Function>(function.name_, std::move(params), function.return_types_, function.body_,
                                             function.span_, function.func_type_, std::move(directions));
  made->level_ = function.level_, made->role_ = function.role_, made->attrs_ = function.attrs_;
  return made;
}

bool isTensor(const ir::VarPtr &param) { return ir::IsA<ir::TensorType>(param->type_); }

} // namespace

QueueSpace queueSpaceOf(const ir::Function &function) {
  QueueSizes sizes;
  sizes.VisitStmt(function.body_);
  QueueSpace space;
  for (auto [id, words] : sizes.words) {
    space.offsets[id] = space.words;
    space.words += words;
  }
  return space;
}

bool hasEvents(const ir::Function &function) {
  Events events;
  events.VisitStmt(function.body_);
  return events.found;
}

ir::FunctionPtr withWholeTiles(const ir::FunctionPtr &function) {
  bool isSplit = ir::FindEnum(function->attrs_, "split", ir::SplitMode::NONE) != ir::SplitMode::NONE;
  const bool *lanes = ir::FindAttr<bool>(function->attrs_, "split_aiv");
  return isSplit && !(lanes && *lanes) ? WholeTiles().VisitFunction(function) : function;
}

Group joinFunctions(const ir::FunctionPtr &cube, const ir::FunctionPtr &vector, int64_t blocks) {
  ir::FunctionPtr sides[] = {withWholeTiles(cube), withWholeTiles(vector)};
  const std::string both = cube->name_ + " and " + vector->name_;
  size_t count = cube->params_.size();
  for (size_t i = 0; i < std::max(count, vector->params_.size()); ++i)
    if (i >= count || i >= vector->params_.size() || isTensor(cube->params_[i]) != isTensor(vector->params_[i]))
      fail(vector->span_, both + " are one task, but take other parameters; give both the same list");
  QueueSpace space = queueSpaceOf(*cube);
  if (space != queueSpaceOf(*vector))
    fail(vector->span_, both + " open queues of other ids or slot sizes; open the same ones in both");
  Group group;
  group.hasQueues = blocks > 0 && space.words > 0;
  std::vector<ir::ParamDirection> directions = cube->param_directions_;
  for (size_t i = 0; i < count; ++i)
    if (vector->param_directions_[i] != directions[i])
      directions[i] = ir::ParamDirection::InOut;
  if (group.hasQueues)
    directions.push_back(ir::ParamDirection::InOut);
  for (ir::FunctionPtr &side : sides) {
    std::vector<ir::VarPtr> params = side->params_;
    if (group.hasQueues)
      params.push_back(std::make_shared<const ir::Var>(
          "queues",
          std::make_shared<const ir::TensorType>(std::vector<ir::ExprPtr>{std::make_shared<const ir::ConstInt>(
                                                     space.words * blocks, pypto::DataType::INDEX, side->span_)},
                                                 pypto::DataType::FP32),
          side->span_));
    side = withParams(*side, std::move(params), directions);
  }
  group.cube = sides[0], group.vector = sides[1];
  return group;
}

} // namespace pto_mlir::pypto_frontend
