// Numbers and tensors of an orchestrator in C++.
#include "OrchestrationText.h"

#include "Types.h"

#include <cmath>
#include <cstdio>

namespace pto_mlir::pypto_frontend {

namespace ir = pypto::ir;
using ir::NodeKind;

namespace {

std::string floatText(double value, const ir::Span &span) {
  if (!std::isfinite(value))
    fail(span, "the C++ of an orchestrator has no number for " + std::to_string(value));
  char text[40];
  std::snprintf(text, sizeof text, "%.9g", value);
  std::string number = text;
  return number + (number.find_first_of(".e") == std::string::npos ? ".0f" : "f");
}

} // namespace

OrchestrationText::Values OrchestrationText::valuesOf(const ir::ExprPtr &expr) {
  if (auto var = ir::As<ir::Var>(expr)) {
    auto value = now.held.find(var.get());
    if (value == now.held.end())
      fail(var->span_, var->name_hint_ + " has no value here");
    return value->second;
  }
  if (auto item = ir::As<ir::TupleGetItemExpr>(expr)) {
    Values all = valuesOf(item->tuple_);
    if (item->index_ < 0 || size_t(item->index_) >= all.size())
      fail(item->span_, "the call has no result " + std::to_string(item->index_));
    return {all[size_t(item->index_)]};
  }
  if (auto task = ir::As<ir::Submit>(expr))
    return submitted(*task);
  if (auto held = ir::As<ir::Call>(expr))
    return ir::IsA<ir::GlobalVar>(*held->op_) ? call(*held) : operation(*held);
  return {{number(expr), "", {}, pypto::DataType::INT64}};
}

OrchestrationText::Named OrchestrationText::tensorOf(const ir::ExprPtr &expr) {
  Values values = valuesOf(expr);
  if (values.size() != 1 || !values.front().isTensor)
    fail(expr->span_, "a tensor is needed here");
  return values.front();
}

std::string OrchestrationText::number(const ir::ExprPtr &expr) {
  if (auto integer = ir::As<ir::ConstInt>(expr))
    return std::to_string(integer->value_);
  if (auto real = ir::As<ir::ConstFloat>(expr))
    return floatText(real->value_, expr->span_);
  if (auto truth = ir::As<ir::ConstBool>(expr))
    return truth->value_ ? "true" : "false";
  if (auto two = ir::As<ir::BinaryExpr>(expr))
    return binary(*two);
  if (auto one = ir::As<ir::UnaryExpr>(expr))
    return unary(*one);
  Values values = valuesOf(expr);
  if (values.size() != 1 || values.front().isTensor)
    fail(expr->span_, "a number is needed here");
  return values.front().name;
}

std::string OrchestrationText::binary(const ir::BinaryExpr &op) {
  std::string left = number(op.left_), right = number(op.right_);
  switch (op.kind()) {
  case NodeKind::FloorDiv:
    return "floor_div(" + left + ", " + right + ")";
  case NodeKind::FloorMod:
    return "floor_mod(" + left + ", " + right + ")";
  case NodeKind::FloatDiv:
    return "(static_cast<float>(" + left + ") / static_cast<float>(" + right + "))";
  case NodeKind::Min:
    return "min_of(" + left + ", " + right + ")";
  case NodeKind::Max:
    return "max_of(" + left + ", " + right + ")";
  case NodeKind::Pow:
    fail(op.span_, "pow has no form in the C++ of an orchestrator");
  case NodeKind::And:
    return "(" + left + " && " + right + ")";
  case NodeKind::Or:
    return "(" + left + " || " + right + ")";
  case NodeKind::Xor:
    return "(!(" + left + ") != !(" + right + "))";
  case NodeKind::BitAnd:
    return "(" + left + " & " + right + ")";
  case NodeKind::BitOr:
    return "(" + left + " | " + right + ")";
  case NodeKind::BitXor:
    return "(" + left + " ^ " + right + ")";
  default: // these are written in C++ as in the language
    return "(" + left + " " + std::string(ir::OperatorText(op.kind())) + " " + right + ")";
  }
}

std::string OrchestrationText::unary(const ir::UnaryExpr &op) {
  std::string value = number(op.operand_);
  switch (op.kind()) {
  case NodeKind::Abs:
    return "max_of(" + value + ", -(" + value + "))";
  case NodeKind::Not:
    return "!(" + value + ")";
  case NodeKind::Cast:
    return "static_cast<" + std::string(numberType(op.dtype_)) + ">(" + value + ")";
  default:
    return std::string(ir::OperatorText(op.kind())) + "(" + value + ")";
  }
}

OrchestrationText::Values OrchestrationText::operation(const ir::Call &op) {
  ir::OpView view(op);
  std::string_view name = view.row() ? view.row()->name : "";
  if (name == "tensor.create_tensor") {
    if (auto initial = view.Keyword("init_value"); initial && !std::holds_alternative<std::monostate>(*initial))
      fail(op.span_, "init_value is not lowered yet; store the value with a kernel");
    auto dtype = view.Keyword<pypto::DataType>("dtype");
    CHECK(dtype) << "a tensor needs an element type";
    return {create(extents(view.Elements("shape")), *dtype, target ? target->name_hint_ : "tensor", target)};
  }
  if (name == "tensor.slice")
    return {slice(view, op)};
  if (name == "tensor.reshape" || name == "tensor.view")
    return {reshape(view, op)};
  if (name == "tensor.dim") {
    Named tensor = tensorOf(view.Operand("tensor"));
    auto axis = ir::ConstantInt(view.Operand("axis"));
    if (!axis || *axis < 0 || size_t(*axis) >= tensor.shape.size())
      fail(op.span_, "the tensor has no such axis");
    return {{tensor.shape[size_t(*axis)], "", {}, pypto::DataType::INT64}};
  }
  if (name.starts_with("system.task_") || name.starts_with("array."))
    return {taskOperation(view, op)};
  if (name == "tensor.read")
    return {{element(view, op), "", {}, tensorOf(view.Operand("x")).dtype}};
  fail(op.span_, op.op_->name_ + " has no form in the C++ of an orchestrator; put it into a kernel");
}

OrchestrationText::Named OrchestrationText::create(const Shape &shape, pypto::DataType dtype, const std::string &hint,
                                                   const ir::VarPtr &var) {
  if (var)
    if (auto there = now.held.find(var.get()); there != now.held.end())
      return there->second.front();
  std::string name = fresh(hint);
  api->create(name, shape, dtype);
  Named made{name, name, shape, dtype, true};
  settle(made);
  if (var)
    now.made[name] = var;
  return made;
}

std::string OrchestrationText::element(const ir::OpView &call, const ir::Call &op) {
  Named tensor = tensorOf(call.Operand("x"));
  std::string indices;
  std::vector<ir::ExprPtr> list = call.Elements("indices");
  if (list.size() != tensor.shape.size())
    fail(op.span_, "a tensor of " + std::to_string(tensor.shape.size()) + " axes needs as many indices");
  for (const ir::ExprPtr &index : list)
    indices += (indices.empty() ? "" : ", ") + number(index);
  return api->read(tensor.name, tensor.dtype, "{" + indices + "}");
}

} // namespace pto_mlir::pypto_frontend
