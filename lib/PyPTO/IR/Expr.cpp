// Expressions: construction, and the type that each derives.
#include "pypto/ir/expr.h"

#include "pypto/ir/node_access.h"

namespace pypto::ir {
namespace {

TypePtr scalarOf(DataType dtype) { return std::make_shared<const ScalarType>(dtype); }

void checkScalar(NodeKind kind, const ExprPtr &operand) {
  CHECK_AS(TypeError, IsA<ScalarType>(operand->type_)) << KindName(kind) << " takes scalars";
}

bool isBoolean(NodeKind kind) { return (kind >= NodeKind::Eq && kind <= NodeKind::Xor) || kind == NodeKind::Not; }

} // namespace

Var::Var(std::string name_hint, TypePtr type, Span span) : Var() {
  name_hint_ = std::move(name_hint);
  type_ = std::move(type);
  span_ = std::move(span);
  NodeAccess::Complete(*this);
}

void Var::Finish() { CHECK(!name_hint_.empty()) << "a variable needs a name"; }

IterArg::IterArg(std::string name_hint, TypePtr type, ExprPtr initValue, Span span) : IterArg() {
  name_hint_ = std::move(name_hint);
  type_ = std::move(type);
  initValue_ = std::move(initValue);
  span_ = std::move(span);
  NodeAccess::Complete(*this);
}

ConstInt::ConstInt(int64_t value, DataType dtype, Span span) : ConstInt() {
  value_ = value;
  dtype_ = dtype;
  span_ = std::move(span);
  NodeAccess::Complete(*this);
}

void ConstInt::Finish() {
  bool boolean = dtype_ == DataType::BOOL;
  CHECK_AS(TypeError, dtype_.IsInt() || boolean) << "ConstInt of type " << dtype_.Name();
  int64_t bits = boolean ? 1 : dtype_.GetBit();
  bool fits = dtype_.IsSigned() ? bits == 64 || (value_ >= -(int64_t(1) << (bits - 1)) && value_ >> (bits - 1) <= 0)
                                : value_ >= 0 && (bits == 64 || value_ >> bits == 0);
  CHECK(fits) << value_ << " is out of the range of " << dtype_.Name();
  type_ = scalarOf(dtype_);
}

ConstFloat::ConstFloat(double value, DataType dtype, Span span) : ConstFloat() {
  value_ = value;
  dtype_ = dtype;
  span_ = std::move(span);
  NodeAccess::Complete(*this);
}

void ConstFloat::Finish() {
  CHECK_AS(TypeError, dtype_.IsFloat()) << "ConstFloat of type " << dtype_.Name();
  type_ = scalarOf(dtype_);
}

ConstBool::ConstBool(bool value, Span span) : ConstBool() {
  value_ = value;
  span_ = std::move(span);
  NodeAccess::Complete(*this);
}

void ConstBool::Finish() { type_ = scalarOf(DataType::BOOL); }

Op::Op(std::string name) : Op() {
  name_ = std::move(name);
  NodeAccess::Complete(*this);
}

void Op::Finish() { CHECK(!name_.empty()) << KindName(kind()) << " needs a name"; }

GlobalVar::GlobalVar(std::string name) : GlobalVar() {
  name_ = std::move(name);
  NodeAccess::Complete(*this);
}

Call::Call(OpPtr op, std::vector<ExprPtr> args, Span span)
    : Call(std::move(op), std::move(args), {}, nullptr, std::move(span)) {}

Call::Call(OpPtr op, std::vector<ExprPtr> args, Attrs kwargs, TypePtr type, Span span) : Call() {
  op_ = std::move(op);
  args_ = std::move(args);
  kwargs_ = std::move(kwargs);
  type_ = std::move(type);
  span_ = std::move(span);
  NodeAccess::Complete(*this);
}

void Call::Finish() {
  if (!type_)
    type_ = UnknownType::Get();
}

Submit::Submit(OpPtr op, std::vector<ExprPtr> args, std::vector<ExprPtr> deps, TypePtr type, Span span) : Submit() {
  op_ = std::move(op);
  args_ = std::move(args);
  deps_ = std::move(deps);
  type_ = std::move(type);
  span_ = std::move(span);
  NodeAccess::Complete(*this);
}

void Submit::Finish() {
  Call::Finish();
  auto scalar = core_num_ ? As<ScalarType>(core_num_->type_) : nullptr;
  CHECK_AS(TypeError, !core_num_ || (scalar && scalar->dtype_.IsInt())) << "core_num must be an integer";
  CHECK(core_num_ || !sync_start_) << "sync_start needs core_num";
}

MakeTuple::MakeTuple(std::vector<ExprPtr> elements, Span span) : MakeTuple() {
  elements_ = std::move(elements);
  span_ = std::move(span);
  NodeAccess::Complete(*this);
}

void MakeTuple::Finish() {
  std::vector<TypePtr> types;
  types.reserve(elements_.size());
  for (const ExprPtr &element : elements_)
    types.push_back(element->type_);
  type_ = std::make_shared<const TupleType>(std::move(types));
}

TupleGetItemExpr::TupleGetItemExpr(ExprPtr tuple, int64_t index, Span span) : TupleGetItemExpr() {
  tuple_ = std::move(tuple);
  index_ = index;
  span_ = std::move(span);
  NodeAccess::Complete(*this);
}

void TupleGetItemExpr::Finish() {
  auto tuple = As<TupleType>(tuple_->type_);
  CHECK_AS(TypeError, tuple) << "only tuples have elements";
  CHECK(index_ >= 0 && uint64_t(index_) < tuple->types_.size())
      << "element " << index_ << " of a tuple of " << tuple->types_.size();
  type_ = tuple->types_[index_];
}

BinaryExpr::BinaryExpr(NodeKind kind, ExprPtr left, ExprPtr right, DataType dtype, Span span) : BinaryExpr(kind) {
  left_ = std::move(left);
  right_ = std::move(right);
  dtype_ = dtype;
  span_ = std::move(span);
  NodeAccess::Complete(*this);
}

void BinaryExpr::Finish() {
  checkScalar(kind(), left_);
  checkScalar(kind(), right_);
  CHECK_AS(TypeError, !isBoolean(kind()) || dtype_ == DataType::BOOL) << KindName(kind()) << " gives BOOL";
  type_ = scalarOf(dtype_);
}

UnaryExpr::UnaryExpr(NodeKind kind, ExprPtr operand, DataType dtype, Span span) : UnaryExpr(kind) {
  operand_ = std::move(operand);
  dtype_ = dtype;
  span_ = std::move(span);
  NodeAccess::Complete(*this);
}

void UnaryExpr::Finish() {
  checkScalar(kind(), operand_);
  CHECK_AS(TypeError, !isBoolean(kind()) || dtype_ == DataType::BOOL) << KindName(kind()) << " gives BOOL";
  type_ = scalarOf(dtype_);
}

BinaryExprPtr MakeBinary(NodeKind kind, ExprPtr left, ExprPtr right, DataType dtype, Span span) {
  switch (kind) {
#define PYPTO_BINARY(Name, ...)                                                                                        \
  case NodeKind::Name:                                                                                                 \
    return std::make_shared<const Name>(std::move(left), std::move(right), dtype, std::move(span));
    PYPTO_BINARY_EXPRS(PYPTO_BINARY)
#undef PYPTO_BINARY
  default:
    INTERNAL_CHECK(false) << KindName(kind);
    return nullptr;
  }
}

UnaryExprPtr MakeUnary(NodeKind kind, ExprPtr operand, DataType dtype, Span span) {
  switch (kind) {
#define PYPTO_UNARY(Name, ...)                                                                                         \
  case NodeKind::Name:                                                                                                 \
    return std::make_shared<const Name>(std::move(operand), dtype, std::move(span));
    PYPTO_UNARY_EXPRS(PYPTO_UNARY)
#undef PYPTO_UNARY
  default:
    INTERNAL_CHECK(false) << KindName(kind);
    return nullptr;
  }
}

std::optional<int64_t> ConstantInt(const ExprPtr &expr) {
  auto constant = As<ConstInt>(expr);
  return constant ? std::optional(constant->value_) : std::nullopt;
}

} // namespace pypto::ir
