// Numbers in an orchestrator, and what its operations give.
#include "Orchestrator.h"

#include "llvm/Support/MathExtras.h"

#include <cmath>

namespace pto_mlir::pypto_frontend {

namespace ir = pypto::ir;
using ir::NodeKind;

Held Orchestrator::valueOf(const ir::ExprPtr &expr) {
  CHECK(expr) << "an operand is missing";
  if (auto value = ir::As<ir::ConstInt>(expr))
    return value->value_;
  if (auto value = ir::As<ir::ConstFloat>(expr))
    return value->value_;
  if (auto value = ir::As<ir::ConstBool>(expr))
    return int64_t(value->value_);
  if (auto var = ir::As<ir::Var>(expr)) {
    auto found = held.find(var.get());
    if (found == held.end())
      fail(expr->span_, "variable " + var->name_hint_ + noValue);
    return found->second;
  }
  if (auto op = ir::As<ir::Submit>(expr))
    return submitted(*op);
  if (auto op = ir::As<ir::Call>(expr))
    return ir::IsA<ir::GlobalVar>(op->op_) ? call(*op) : operation(op);
  if (auto item = ir::As<ir::TupleGetItemExpr>(expr)) {
    Held whole = valueOf(item->tuple_);
    auto *given = std::get_if<Results>(&whole);
    if (given && given->hasTask && size_t(item->index_) == given->views.size())
      return given->task;
    if (!given || item->index_ < 0 || size_t(item->index_) >= given->views.size())
      fail(expr->span_, "this call has no result of that number");
    return given->views[item->index_];
  }
  if (auto op = ir::As<ir::BinaryExpr>(expr))
    return binary(*op);
  if (auto op = ir::As<ir::UnaryExpr>(expr))
    return unary(*op);
  fail(expr->span_, std::string(ir::KindName(expr->kind())) + " is not lowered yet in an orchestrator");
}

int64_t Orchestrator::integerOf(const ir::ExprPtr &expr) {
  Held value = valueOf(expr);
  if (auto *integer = std::get_if<int64_t>(&value))
    return *integer;
  if (std::holds_alternative<mlir::Value>(value))
    fail(expr->span_, "this number is known at run time only, but decides what is compiled; give it as a constant");
  fail(expr->span_, "an integer is needed here");
}

Number Orchestrator::numberOf(const ir::ExprPtr &expr) {
  Held value = valueOf(expr);
  if (auto *number = std::get_if<mlir::Value>(&value); number && number->getType().isInteger(64))
    return Number(*number);
  return integerOf(expr);
}

std::vector<Number> Orchestrator::numbersOf(const std::vector<ir::ExprPtr> &list) {
  std::vector<Number> numbers;
  numbers.reserve(list.size());
  for (const ir::ExprPtr &each : list)
    numbers.push_back(numberOf(each));
  return numbers;
}

mlir::Value Orchestrator::emitted(const Held &number) {
  if (auto *integer = std::get_if<int64_t>(&number))
    return host->constant(*integer);
  if (auto *real = std::get_if<double>(&number))
    return host->constant(*real);
  auto *value = std::get_if<mlir::Value>(&number);
  return value ? *value : mlir::Value();
}

View Orchestrator::viewOf(const ir::ExprPtr &expr) {
  Held value = valueOf(expr);
  if (auto *view = std::get_if<View>(&value))
    return *view;
  fail(expr->span_, "a tensor is needed here");
}

std::vector<int64_t> Orchestrator::integersOf(const std::vector<ir::ExprPtr> &list) {
  std::vector<int64_t> numbers;
  numbers.reserve(list.size());
  for (const ir::ExprPtr &each : list)
    numbers.push_back(integerOf(each));
  return numbers;
}

namespace {

/// The comparison of two numbers; nothing for other operators.
template <class T> std::optional<bool> compare(NodeKind kind, T a, T b) {
  switch (kind) {
  case NodeKind::Eq:
    return a == b;
  case NodeKind::Ne:
    return a != b;
  case NodeKind::Lt:
    return a < b;
  case NodeKind::Le:
    return a <= b;
  case NodeKind::Gt:
    return a > b;
  case NodeKind::Ge:
    return a >= b;
  default:
    return std::nullopt;
  }
}

/// The operator on two integers; nothing where it has no result.
std::optional<int64_t> apply(NodeKind kind, int64_t a, int64_t b) {
  int64_t result = 0;
  switch (kind) {
  case NodeKind::Add:
    return llvm::AddOverflow(a, b, result) ? std::nullopt : std::optional(result);
  case NodeKind::Sub:
    return llvm::SubOverflow(a, b, result) ? std::nullopt : std::optional(result);
  case NodeKind::Mul:
    return llvm::MulOverflow(a, b, result) ? std::nullopt : std::optional(result);
  case NodeKind::FloorDiv:
    return b == 0 || (b == -1 && a == INT64_MIN) ? std::nullopt : std::optional(llvm::divideFloorSigned(a, b));
  case NodeKind::FloorMod:
    return b == 0 || b == -1 ? (b ? std::optional<int64_t>(0) : std::nullopt)
                             : std::optional(a - llvm::divideFloorSigned(a, b) * b);
  case NodeKind::Min:
    return std::min(a, b);
  case NodeKind::Max:
    return std::max(a, b);
  case NodeKind::And:
    return a && b;
  case NodeKind::Or:
    return a || b;
  case NodeKind::BitAnd:
    return a & b;
  case NodeKind::BitOr:
    return a | b;
  case NodeKind::BitXor:
    return a ^ b;
  case NodeKind::BitShiftLeft:
    return b < 0 || b > 62 ? std::nullopt : std::optional(int64_t(uint64_t(a) << b));
  case NodeKind::BitShiftRight:
    return b < 0 || b > 63 ? std::nullopt : std::optional(a >> b);
  default:
    return compare(kind, a, b);
  }
}

std::optional<double> apply(NodeKind kind, double a, double b) {
  switch (kind) {
  case NodeKind::Add:
    return a + b;
  case NodeKind::Sub:
    return a - b;
  case NodeKind::Mul:
    return a * b;
  case NodeKind::FloatDiv:
    return a / b;
  case NodeKind::Min:
    return std::min(a, b);
  case NodeKind::Max:
    return std::max(a, b);
  default:
    return std::nullopt;
  }
}

double asDouble(const Held &value) {
  auto *integer = std::get_if<int64_t>(&value);
  return integer ? double(*integer) : std::get<double>(value);
}

bool isNumber(const Held &value) {
  return std::holds_alternative<int64_t>(value) || std::holds_alternative<double>(value) ||
         std::holds_alternative<mlir::Value>(value);
}

bool isEmitted(const Held &value) { return std::holds_alternative<mlir::Value>(value); }

} // namespace

Held Orchestrator::binary(const ir::BinaryExpr &op) {
  Held left = valueOf(op.left_), right = valueOf(op.right_);
  if (!isNumber(left) || !isNumber(right))
    fail(op.span_, "numbers are needed here");
  if (isEmitted(left) || isEmitted(right)) {
    mlir::Value a = emitted(left), b = emitted(right);
    if (op.kind() == NodeKind::FloatDiv ||
        mlir::isa<mlir::FloatType>(a.getType()) != mlir::isa<mlir::FloatType>(b.getType()))
      a = host->toFloat(a), b = host->toFloat(b);
    if (mlir::Value value = host->binary(op.kind(), a, b))
      return value;
    fail(op.span_, std::string(ir::OperatorText(op.kind())) + " is not lowered yet on numbers known at run time");
  }
  auto *a = std::get_if<int64_t>(&left), *b = std::get_if<int64_t>(&right);
  if (a && b && op.kind() != NodeKind::FloatDiv) {
    if (auto value = apply(op.kind(), *a, *b))
      return *value;
  } else if (auto value = apply(op.kind(), asDouble(left), asDouble(right))) {
    return *value;
  } else if (auto holds = compare(op.kind(), asDouble(left), asDouble(right))) {
    return int64_t(*holds);
  }
  fail(op.span_, "this has no value: " + std::string(ir::OperatorText(op.kind())));
}

std::optional<int64_t> foldedInteger(NodeKind kind, int64_t a, int64_t b) { return apply(kind, a, b); }

Number Orchestrator::computed(NodeKind kind, const Number &a, const Number &b) {
  if (!a.isKnown() || !b.isKnown()) {
    bool isNeutral = (kind == NodeKind::Mul && (a == Number(1) || b == Number(1))) ||
                     (kind == NodeKind::Add && (a == Number(0) || b == Number(0)));
    if (isNeutral)
      return a.isKnown() ? b : a;
    auto numberIn = [&](mlir::Block *block) -> mlir::Value & {
      return numbers[{block, kind, a.known, a.value.getAsOpaquePointer(), b.known, b.value.getAsOpaquePointer()}];
    };
    if (mlir::Value first = numberIn(body))
      return Number(first);
    mlir::Value &number = numberIn(host->block());
    if (!number)
      number = host->binary(kind, emitted(a), emitted(b));
    return Number(number);
  }
  return apply(kind, a.known, b.known).value_or(0);
}

Held Orchestrator::emittedUnary(const ir::UnaryExpr &op, mlir::Value value) {
  bool isFloat = mlir::isa<mlir::FloatType>(value.getType());
  mlir::Value zero = isFloat ? host->constant(0.0) : host->constant(int64_t(0));
  switch (op.kind()) {
  case NodeKind::Neg:
    return host->binary(NodeKind::Sub, zero, value);
  case NodeKind::Abs:
    return host->binary(NodeKind::Max, value, host->binary(NodeKind::Sub, zero, value));
  case NodeKind::Not:
    return host->binary(NodeKind::Eq, value, zero);
  case NodeKind::Cast:
    return op.dtype_.IsFloat() ? host->toFloat(value) : host->toInteger(value);
  default:
    fail(op.span_, std::string(ir::OperatorText(op.kind())) + " is not lowered yet in an orchestrator");
  }
}

/// An element of memory, which waits for the kernels that write it.
Held Orchestrator::readElement(const ir::OpView &view, const ir::Call &op) {
  View tensor = viewOf(view.Operand("x"));
  std::vector<Number> indices = numbersOf(view.Elements("indices"));
  if (indices.size() != tensor.shape.size())
    fail(op.span_, "a tensor of " + std::to_string(tensor.shape.size()) + " axes needs as many indices");
  if (!host)
    return knownElement(tensor, indices, op.span_);
  Number at = tensor.moving ? Number(tensor.moving) : Number();
  at = computed(NodeKind::Add, at, tensor.offset);
  for (size_t axis = 0; axis < indices.size(); ++axis)
    at = computed(NodeKind::Add, at, computed(NodeKind::Mul, indices[axis], tensor.strides[axis]));
  mlir::Value value = host->read(buffers[tensor.buffer].memory, emitted(at));
  if (!value)
    fail(op.span_, "the host does not compute with elements of " + std::string(tensor.dtype.Name()));
  return value;
}

Held Orchestrator::unary(const ir::UnaryExpr &op) {
  Held value = valueOf(op.operand_);
  if (!isNumber(value))
    fail(op.span_, "a number is needed here");
  if (isEmitted(value))
    return emittedUnary(op, std::get<mlir::Value>(value));
  auto *integer = std::get_if<int64_t>(&value);
  switch (op.kind()) {
  case NodeKind::Neg:
    return integer ? Held(-*integer) : Held(-std::get<double>(value));
  case NodeKind::Abs:
    return integer ? Held(std::abs(*integer)) : Held(std::fabs(std::get<double>(value)));
  case NodeKind::Not:
    return integer ? Held(int64_t(!*integer)) : Held();
  case NodeKind::Cast:
    if (op.dtype_.IsFloat())
      return asDouble(value);
    return integer ? value : Held(int64_t(std::get<double>(value)));
  default:
    fail(op.span_, std::string(ir::OperatorText(op.kind())) + " is not lowered yet in an orchestrator");
  }
}

Held Orchestrator::operation(const ir::CallPtr &op) {
  ir::OpView view(*op);
  std::string_view name = view.row() ? view.row()->name : "";
  if (name == "tensor.create_tensor")
    return create(view, *op);
  if (name == "tensor.slice")
    return slice(view, *op);
  if (name == "tensor.reshape" || name == "tensor.view")
    return reshape(view, *op);
  if (name == "tensor.transpose")
    return transpose(view, *op);
  if (name == "tensor.dim") {
    View tensor = viewOf(view.Operand("tensor"));
    int64_t axis = integerOf(view.Operand("axis"));
    if (axis < 0 || size_t(axis) >= tensor.shape.size())
      fail(op->span_, "the tensor has no axis " + std::to_string(axis));
    return heldOf(tensor.shape[axis]);
  }
  if (name == "tensor.read")
    return readElement(view, *op);
  if (name.starts_with("comm."))
    return communication(view, *op);
  if (name.starts_with("array.") || name.starts_with("system.task_"))
    return taskOperation(view, *op);
  fail(op->span_, op->op_->name_ + " outside a kernel; put it into `with pl.at(level=pl.Level.CORE_GROUP):`");
}

} // namespace pto_mlir::pypto_frontend
