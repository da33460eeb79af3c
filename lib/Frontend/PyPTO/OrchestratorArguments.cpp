// Arguments of launches: whether a tensor is what a kernel's parameter declares.
#include "Orchestrator.h"

namespace pto_mlir::pypto_frontend {

namespace ir = pypto::ir;

std::string textOf(const std::vector<Number> &numbers) {
  std::string text;
  for (const Number &number : numbers)
    text += (text.empty() ? "" : ", ") + (number.isKnown() ? std::to_string(number.known) : "?");
  return "[" + text + "]";
}

std::optional<int64_t> extentValue(const ir::ExprPtr &extent,
                                   llvm::function_ref<std::optional<int64_t>(const ir::Var &)> symbol) {
  if (auto known = ir::ConstantInt(extent))
    return known;
  if (auto var = ir::As<ir::Var>(extent))
    return symbol(*var);
  auto op = ir::As<ir::BinaryExpr>(extent);
  auto left = op ? extentValue(op->left_, symbol) : std::nullopt;
  auto right = op ? extentValue(op->right_, symbol) : std::nullopt;
  return left && right ? foldedInteger(op->kind(), *left, *right) : std::nullopt;
}

namespace {

/// The only symbol of an extent and what it must be for the extent to be `value`; null where it does not follow.
std::pair<const ir::Var *, int64_t> solved(const ir::ExprPtr &extent, int64_t value) {
  if (auto var = ir::As<ir::Var>(extent))
    return {var.get(), value};
  auto op = ir::As<ir::BinaryExpr>(extent);
  if (!op)
    return {nullptr, 0};
  auto left = ir::ConstantInt(op->left_), right = ir::ConstantInt(op->right_);
  const ir::ExprPtr &open = left ? op->right_ : op->left_;
  int64_t known = left ? *left : right.value_or(0);
  std::optional<int64_t> rest;
  if (op->kind() == ir::NodeKind::Add && (left || right))
    rest = foldedInteger(ir::NodeKind::Sub, value, known);
  else if (op->kind() == ir::NodeKind::Sub && right)
    rest = foldedInteger(ir::NodeKind::Add, value, known);
  else if (op->kind() == ir::NodeKind::Mul && known)
    rest = foldedInteger(ir::NodeKind::FloorDiv, value, known);
  return rest ? solved(open, *rest) : std::pair<const ir::Var *, int64_t>();
}

} // namespace

/// What an extent of a parameter is for a tensor of `given`.
int64_t Orchestrator::extentOf(const ir::ExprPtr &extent, const Number &given, Symbols &symbols, const std::string &who,
                               const ir::Span &span) {
  if (auto known = ir::ConstantInt(extent))
    return *known;
  auto [symbol, value] =
      given.isKnown() ? solved(extent, given.known) : std::pair<const ir::Var *, int64_t>(nullptr, 0);
  if (!symbol)
    fail(span, who + " has an extent known at run time, which is not lowered yet");
  auto [found, isNew] = symbols.try_emplace(symbol, value);
  if (!isNew && found->second != value)
    fail(span, who + ": " + symbol->name_hint_ + " is " + std::to_string(value) + " here and " +
                   std::to_string(found->second) + " elsewhere");
  // What the symbol says: another number where the tensor's extent is no multiple.
  return *extentValue(extent, [&](const ir::Var &) { return std::optional(found->second); });
}

namespace {

/// Whether a kernel says itself which part of `tensor` each load takes.
class CutLoads : public ir::IRVisitor {
public:
  explicit CutLoads(const ir::Var *tensor) : tensor(tensor) {}
  bool say = true;

protected:
  void VisitExpr_(const ir::CallPtr &op) override {
    ir::OpView view(*op);
    if (view.row() && view.row()->name == "tile.load" && view.Operand("tensor").get() == tensor)
      say &= !view.Elements("valid_shape").empty();
    ir::IRVisitor::VisitExpr_(op);
  }

private:
  const ir::Var *tensor;
};

bool saysWhatItLoads(const ir::Function &function, const ir::VarPtr &param) {
  CutLoads loads(param.get());
  loads.VisitStmt(function.body_);
  return loads.say;
}

} // namespace

/// The argument as the kernel sees it. What is known at run time only is compared then: strides are those of the
/// kernel's shape, extents may be smaller.
View Orchestrator::checkedArgument(const ir::Function &function, size_t index, View view, Symbols &symbols,
                                   const ir::Span &span) {
  const ir::VarPtr &param = function.params_[index];
  auto type = ir::As<ir::TensorType>(param->type_);
  std::string who = function.name_ + ": argument " + param->name_hint_;
  if (ir::IsA<ir::DistributedTensorType>(type) && buffers[view.buffer].pitch == 0)
    fail(span, who + " is a pld.DistributedTensor, but gets no window; make one with pld.window");
  std::vector<Number> wanted;
  if (type->shape_.size() != view.shape.size())
    fail(span, who + " expects " + std::to_string(type->shape_.size()) + " axes, not " + textOf(view.shape));
  wanted.reserve(view.shape.size());
  for (size_t axis = 0; axis < type->shape_.size(); ++axis)
    wanted.emplace_back(extentOf(type->shape_[axis], view.shape[axis], symbols, who, span));
  if (view.isCut && !saysWhatItLoads(function, param))
    fail(span, who + " is a view with valid_shape, which is not lowered yet where the kernel loads it without; give "
                     "valid_shape to its pl.load");
  int64_t dense = 1;
  for (size_t axis = wanted.size(); axis-- > 0 && wanted.size() == view.shape.size(); dense *= wanted[axis].known) {
    if (!view.shape[axis].isKnown()) {
      host->check(ir::NodeKind::Le, emitted(view.shape[axis]), emitted(wanted[axis]),
                  who + ": extent " + std::to_string(axis) + " is greater than " + std::to_string(wanted[axis].known));
      view.shape[axis] = wanted[axis];
    }
    if (!view.strides[axis].isKnown()) {
      host->check(ir::NodeKind::Eq, emitted(view.strides[axis]), host->constant(dense),
                  who + ": stride " + std::to_string(axis) + " is not " + std::to_string(dense));
      view.strides[axis] = dense;
    }
  }
  if (wanted != view.shape)
    fail(span, who + " expects shape " + textOf(wanted) + ", not " + textOf(view.shape));
  if (type->dtype_ != view.dtype)
    fail(span, who + " expects " + std::string(type->dtype_.Name()) + ", not " + std::string(view.dtype.Name()));
  if (type->dtype_.GetBit() % 8)
    fail(span, who + ": elements smaller than a byte are not lowered yet in an orchestrator");
  bool isOutput = writes(function.param_directions_[index]);
  if (const Buffer &buffer = buffers[view.buffer]; isOutput && buffer.direction == ir::ParamDirection::In)
    fail(span, buffer.name + " is written by " + function.name_ + ", but not declared as Out");
  return view;
}

} // namespace pto_mlir::pypto_frontend
