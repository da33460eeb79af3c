// Arguments of launches: whether a tensor is what a kernel's parameter declares.
#include "Extents.h"
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

std::pair<const ir::Var *, Number> Orchestrator::solved(const ir::ExprPtr &extent, const Number &value) {
  std::optional<SolvedExtent> found = solveExtent(extent);
  if (!found)
    return {};
  Number number = value;
  for (auto [kind, known] : found->steps)
    number = computed(kind, number, known);
  return {found->symbol.get(), number};
}

std::optional<Number> Orchestrator::extentFor(const ir::ExprPtr &extent, const Symbols &symbols) {
  if (auto known = ir::ConstantInt(extent))
    return *known;
  if (auto var = ir::As<ir::Var>(extent)) {
    auto found = symbols.find(var.get());
    return found == symbols.end() ? std::nullopt : std::optional(found->second);
  }
  auto op = ir::As<ir::BinaryExpr>(extent);
  auto left = op ? extentFor(op->left_, symbols) : std::nullopt;
  auto right = op ? extentFor(op->right_, symbols) : std::nullopt;
  if (!left || !right)
    return std::nullopt;
  if (!left->isKnown() || !right->isKnown())
    return computed(op->kind(), *left, *right);
  auto folded = foldedInteger(op->kind(), left->known, right->known);
  return folded ? std::optional<Number>(*folded) : std::nullopt;
}

/// What an extent of a parameter is for a tensor of `given`: another number where that is no value of it.
Number Orchestrator::extentOf(const ir::ExprPtr &extent, const Number &given, Symbols &symbols, const std::string &who,
                              const ir::Span &span) {
  if (auto known = ir::ConstantInt(extent))
    return *known;
  auto [symbol, value] = solved(extent, given);
  if (!symbol)
    fail(span, who + " has an extent known at run time, which is not lowered yet");
  auto [found, isNew] = symbols.insert({symbol, value});
  const Number &first = found->second;
  if (isNew || first == value)
    return extentFor(extent, symbols).value_or(Number(0));
  if (first.isKnown() && value.isKnown())
    fail(span, who + ": " + symbol->name_hint_ + " is " + std::to_string(value.known) + " here and " +
                   std::to_string(first.known) + " elsewhere");
  host->check(ir::NodeKind::Eq, emitted(value), emitted(first),
              who + ": " + symbol->name_hint_ + " is another number here than elsewhere");
  return extentFor(extent, symbols).value_or(Number(0));
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

/// The argument as the kernel sees it. Extents that are known at run time only are compared then, and may be smaller.
View Orchestrator::checkedArgument(const ir::Function &function, size_t index, View view, Symbols &symbols,
                                   const ir::Span &span) {
  const ir::VarPtr &param = function.params_[index];
  auto type = ir::As<ir::TensorType>(param->type_);
  std::string who = function.name_ + ": argument " + param->name_hint_;
  if (ir::IsA<ir::DistributedTensorType>(type) && buffers[view.buffer].pitch == 0)
    fail(span, who + " is a pld.DistributedTensor, but gets no window; make one with pld.window");
  std::vector<Number> wanted;
  view = windowAs(*type, std::move(view));
  if (type->shape_.size() != view.shape.size())
    fail(span, who + " expects " + std::to_string(type->shape_.size()) + " axes, not " + textOf(view.shape));
  wanted.reserve(view.shape.size());
  for (size_t axis = 0; axis < type->shape_.size(); ++axis)
    wanted.emplace_back(extentOf(type->shape_[axis], view.shape[axis], symbols, who, span));
  if (view.isCut && !saysWhatItLoads(function, param))
    fail(span, who + " is a view with valid_shape, which is not lowered yet where the kernel loads it without; give "
                     "valid_shape to its pl.load");
  std::vector<Number> dense = denseStrides(wanted);
  bool mayBeLess = false; // an extent behind the axis
  for (size_t axis = wanted.size(); axis-- > 0;) {
    if (mayBeLess && !view.strides[axis].isKnown() && dense[axis].isKnown()) {
      host->check(ir::NodeKind::Eq, emitted(view.strides[axis]), emitted(dense[axis]),
                  who + ": stride " + std::to_string(axis) + " is not " + std::to_string(dense[axis].known));
      view.strides[axis] = dense[axis];
    }
    mayBeLess |= !view.shape[axis].isKnown() && wanted[axis].isKnown();
    std::string place = who + ": extent " + std::to_string(axis);
    if (wanted[axis] != view.shape[axis] && !wanted[axis].isKnown())
      host->check(ir::NodeKind::Eq, emitted(view.shape[axis]), emitted(wanted[axis]),
                  place + " is not what the kernel declares");
    else if (!view.shape[axis].isKnown() && wanted[axis].isKnown())
      host->check(ir::NodeKind::Le, emitted(view.shape[axis]), emitted(wanted[axis]),
                  place + " is greater than " + std::to_string(wanted[axis].known));
    else if (wanted[axis].isKnown())
      continue;
    view.shape[axis] = wanted[axis];
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
