// Extents of tensors in the C++ of an orchestrator: numbers, variables of the entry, or what a tensor says at run time.
#include "OrchestrationText.h"

#include "Extents.h"
#include "Orchestrator.h"
#include "Types.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Path.h"

namespace pto_mlir::pypto_frontend {

namespace ir = pypto::ir;

std::optional<int64_t> OrchestrationText::knownExtent(const std::string &text) {
  int64_t number = 0;
  return llvm::StringRef(text).getAsInteger(10, number) ? std::nullopt : std::optional(number);
}

/// A condition that holds in every run of a program without a mistake; `what` of the statement at `span` is wrong else.
void OrchestrationText::expect(const std::string &condition, const ir::Span &span, const std::string &what) {
  std::string place;
  if (span.is_valid())
    place = llvm::sys::path::filename(span.filename()).str() + ":" + std::to_string(span.begin_line_) + ":" +
            std::to_string(span.begin_column_) + ": ";
  std::string escaped;
  llvm::raw_string_ostream(escaped).write_escaped(place + what);
  api->expect(condition, escaped);
}

OrchestrationText::Shape OrchestrationText::extents(const std::vector<ir::ExprPtr> &list) {
  Shape texts;
  texts.reserve(list.size());
  for (const ir::ExprPtr &expr : list)
    texts.push_back(number(expr));
  return texts;
}

/// As `extents`, of another function's expressions, whose variables are `known`.
OrchestrationText::Shape OrchestrationText::extentsWith(const Bindings &known, const std::vector<ir::ExprPtr> &list) {
  Bindings outer = std::exchange(now.held, known);
  Shape texts = extents(list);
  now.held = std::move(outer);
  return texts;
}

/// Replaces what may change while the tensor lives by what the tensor says itself.
void OrchestrationText::settle(Named &tensor) const {
  for (size_t axis = 0; axis < tensor.shape.size(); ++axis)
    if (std::string &extent = tensor.shape[axis]; !knownExtent(extent) && !symbols.count(extent))
      extent = tensor.name + ".extent(" + std::to_string(axis) + ")";
}

/// `tensor` as a variable that several tensors are assigned to.
OrchestrationText::Named OrchestrationText::loosened(Named tensor) const {
  for (size_t axis = 0; axis < tensor.shape.size(); ++axis)
    tensor.shape[axis] = tensor.name + ".extent(" + std::to_string(axis) + ")";
  tensor.dense = Dense::AtRunTime;
  return tensor;
}

/// Variables of `declared` that a tensor of extents `given` says, beside those in `known`. Extents that say no more
/// must be what follows: else an error, here or when it runs.
void OrchestrationText::bindExtents(const std::vector<ir::ExprPtr> &declared, const Shape &given, Bindings &known,
                                    const std::string &who, const ir::Span &span) {
  if (declared.size() != given.size())
    fail(span, who + " expects " + std::to_string(declared.size()) + " axes, not " + std::to_string(given.size()));
  for (size_t axis = 0; axis < declared.size(); ++axis) {
    if (auto solved = solveExtent(declared[axis]); solved && !known.count(solved->symbol.get())) {
      std::string value = given[axis];
      for (auto [kind, step] : solved->steps)
        value = stepOf(kind, value, step);
      known[solved->symbol.get()] = {{value, "", {}, pypto::DataType::INT64}};
      if (solved->steps.empty())
        continue;
    }
    std::string follows = extentsWith(known, {declared[axis]}).front();
    auto has = knownExtent(given[axis]), wants = knownExtent(follows);
    if (follows == given[axis])
      continue;
    std::string place = who + ": extent " + std::to_string(axis);
    if (has && wants)
      fail(span, place + " is " + given[axis] + ", not the " + follows + " that is declared");
    // Behind the last row of a tensor with fewer rows than declared nothing follows, so its strides are the same.
    bool mayBeLess = axis == 0 && wants;
    expect(given[axis] + (mayBeLess ? " <= " : " == ") + follows, span,
           place + (mayBeLess ? " is greater than " + follows : " is not what is declared"));
  }
}

/// left op right, of an extent and a number.
std::string OrchestrationText::stepOf(ir::NodeKind kind, const std::string &left, int64_t right) {
  if (auto known = knownExtent(left))
    if (auto folded = foldedInteger(kind, *known, right))
      return std::to_string(*folded);
  std::string number = std::to_string(right);
  if (kind == ir::NodeKind::FloorDiv)
    return "floor_div(" + left + ", " + number + ")";
  const char *sign = kind == ir::NodeKind::Sub ? " - " : kind == ir::NodeKind::Mul ? " * " : " + ";
  return "(" + left + sign + number + ")";
}

/// Extents of the entry's tensors: variables in the order in which inputs, then outputs say them. What holds in every
/// run is in `checks`, behind which the statements of the entry come.
std::vector<EntryExtent> OrchestrationText::entryExtents(std::vector<EntryArgument> &arguments) {
  std::vector<EntryExtent> found;
  for (bool isOutput : {false, true})
    for (size_t i = 0; i < entry->params_.size(); ++i) {
      auto type = ir::As<ir::TensorType>(entry->params_[i]->type_);
      if (!type || (entry->param_directions_[i] == ir::ParamDirection::Out) != isOutput)
        continue;
      for (size_t axis = 0; axis < type->shape_.size(); ++axis) {
        auto solved = solveExtent(type->shape_[axis]);
        if (!solved || now.held.count(solved->symbol.get()))
          continue;
        std::string value = "ext_" + arguments[i].name + ".extent(" + std::to_string(axis) + ")";
        for (auto [kind, step] : solved->steps)
          value = stepOf(kind, value, step);
        found.push_back({fresh(solved->symbol->name_hint_), value});
        symbols.emplace(found.back().name, solved->symbol);
        now.held[solved->symbol.get()] = {{found.back().name, "", {}, pypto::DataType::INT64}};
      }
    }
  for (size_t i = 0; i < entry->params_.size(); ++i)
    if (auto type = ir::As<ir::TensorType>(entry->params_[i]->type_))
      arguments[i].shape = extents(type->shape_);
  return found;
}

/// What a run has to give: extents of one name are one number, and not 0.
void OrchestrationText::checkEntry(const std::vector<EntryArgument> &arguments, const std::vector<EntryExtent> &found) {
  for (const EntryExtent &extent : found)
    expect(extent.name + " >= 1", entry->span_, "extent " + extent.name + " is less than 1");
  for (size_t i = 0; api->tensorsHaveExtents() && i < entry->params_.size(); ++i)
    for (size_t axis = 0; axis < arguments[i].shape.size(); ++axis) {
      const std::string &text = arguments[i].shape[axis];
      std::string given = "ext_" + arguments[i].name + ".extent(" + std::to_string(axis) + ")";
      bool says = llvm::any_of(found, [&](const EntryExtent &each) { return each.value == given; });
      if (!knownExtent(text) && !says)
        expect(given + " == " + text, entry->params_[i]->span_,
               "parameter " + arguments[i].name + ": extent " + std::to_string(axis) +
                   " is another number here than elsewhere");
    }
}

/// An extent in variables of the entry, which its caller knows; null where a run computes it otherwise.
ir::ExprPtr OrchestrationText::inEntrysTerms(const ir::ExprPtr &extent) const {
  if (ir::ConstantInt(extent))
    return extent;
  if (auto var = ir::As<ir::Var>(extent)) {
    if (llvm::any_of(symbols, [&](const auto &each) { return each.second == var; }))
      return var;
    auto definition = definitions.find(var.get());
    return definition == definitions.end() ? nullptr : inEntrysTerms(definition->second);
  }
  if (auto op = ir::As<ir::BinaryExpr>(extent)) {
    ir::ExprPtr left = inEntrysTerms(op->left_), right = inEntrysTerms(op->right_);
    return left && right ? ir::MakeBinary(op->kind(), left, right, op->dtype_, op->span_) : nullptr;
  }
  auto call = ir::As<ir::Call>(extent);
  if (!call || call->op_->name_ != "tensor.dim")
    return nullptr;
  ir::OpView view(*call);
  auto param = llvm::find(entry->params_, view.Operand("tensor"));
  auto axis = ir::ConstantInt(view.Operand("axis"));
  auto type = param == entry->params_.end() ? nullptr : ir::As<ir::TensorType>((*param)->type_);
  return type && axis && *axis >= 0 && size_t(*axis) < type->shape_.size() ? type->shape_[size_t(*axis)] : nullptr;
}

/// The type of a tensor that is returned: an argument, so its extents follow from those of the parameters.
ir::TypePtr OrchestrationText::returnedType(const ir::Var &var, const ir::Span &span) const {
  auto type = ir::As<ir::TensorType>(var.type_);
  std::vector<ir::ExprPtr> shape;
  for (const ir::ExprPtr &extent : type->shape_) {
    shape.push_back(inEntrysTerms(extent));
    if (!shape.back())
      fail(span, "extent " + std::to_string(shape.size() - 1) + " of " + var.name_hint_ +
                     ", which is returned, follows from no parameter; return it in an Out parameter");
  }
  return std::make_shared<const ir::TensorType>(std::move(shape), type->dtype_);
}

} // namespace pto_mlir::pypto_frontend
