// Scalars and index expressions as arith.
#include "Lowering.h"
#include "Orchestrator.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace pto_mlir::pypto_frontend {

using ir::NodeKind;

Value Lowering::valueOf(const ir::ExprPtr &expr) {
  result = nullptr;
  Location outer = loc; // of the call that this is an operand of
  VisitExpr(expr);
  if (!result)
    fail(expr->span_, "a value is needed here");
  loc = outer;
  return std::exchange(result, nullptr);
}

Value Lowering::constant(Attribute value, Type type) {
  Value &found = known[{value, type}];
  if (!found)
    found = constants.create<arith::ConstantOp>(loc, cast<TypedAttr>(value));
  return found;
}

Value Lowering::indexConstant(int64_t value) { return constant(b.getIndexAttr(value), b.getIndexType()); }

Value Lowering::convert(Value value, Type type, bool isSigned) {
  Type from = value.getType();
  if (from == type)
    return value;
  auto fromFloat = dyn_cast<FloatType>(from), toFloat = dyn_cast<FloatType>(type);
  if ((from.isIndex() && toFloat) || (fromFloat && type.isIndex()))
    return convert(convert(value, b.getI64Type(), isSigned), type, isSigned);
  if (from.isIndex() || type.isIndex())
    return isSigned ? b.create<arith::IndexCastOp>(loc, type, value).getResult()
                    : b.create<arith::IndexCastUIOp>(loc, type, value).getResult();
  if (fromFloat && toFloat && fromFloat.getWidth() == toFloat.getWidth()) { // f16 and bf16
    Value wide = b.create<arith::ExtFOp>(loc, b.getF32Type(), value);
    return b.create<arith::TruncFOp>(loc, type, wide);
  }
  if (fromFloat && toFloat)
    return fromFloat.getWidth() < toFloat.getWidth() ? b.create<arith::ExtFOp>(loc, type, value).getResult()
                                                     : b.create<arith::TruncFOp>(loc, type, value).getResult();
  if (fromFloat)
    return isSigned ? b.create<arith::FPToSIOp>(loc, type, value).getResult()
                    : b.create<arith::FPToUIOp>(loc, type, value).getResult();
  if (toFloat)
    return isSigned ? b.create<arith::SIToFPOp>(loc, type, value).getResult()
                    : b.create<arith::UIToFPOp>(loc, type, value).getResult();
  if (from.getIntOrFloatBitWidth() > type.getIntOrFloatBitWidth())
    return b.create<arith::TruncIOp>(loc, type, value);
  return isSigned ? b.create<arith::ExtSIOp>(loc, type, value).getResult()
                  : b.create<arith::ExtUIOp>(loc, type, value).getResult();
}

static bool isSigned(const ir::ExprPtr &expr) {
  auto dtype = ir::ElementTypeOf(expr->type_);
  return dtype && dtype->IsSigned();
}

Value Lowering::indexOf(const ir::ExprPtr &expr) {
  if (plan && !plan->symbols.empty() && !ir::ConstantInt(expr)) // extents that a launch has given
    if (auto known = extentValue(expr, [&](const ir::Var &symbol) {
          auto found = plan->symbols.find(&symbol);
          return found == plan->symbols.end() ? std::nullopt : std::optional(found->second);
        }))
      return indexConstant(*known);
  return scalarOf(expr, b.getIndexType());
}

Value Lowering::scalarOf(const ir::ExprPtr &expr, Type type) {
  if (auto literal = ir::As<ir::ConstInt>(expr)) { // in the type that it is used in
    if (llvm::isa<FloatType>(type))
      return constant(b.getFloatAttr(type, double(literal->value_)), type);
    return constant(b.getIntegerAttr(type, literal->value_), type);
  }
  if (auto literal = ir::As<ir::ConstFloat>(expr); literal && llvm::isa<FloatType>(type))
    return constant(b.getFloatAttr(type, literal->value_), type);
  Value value = valueOf(expr);
  if (!value.getType().isIntOrIndexOrFloat())
    fail(expr->span_, "a scalar is needed here");
  return convert(value, type, isSigned(expr));
}

void Lowering::VisitExpr_(const ir::VarPtr &op) {
  result = values.lookup(op.get());
  if (!result)
    fail(op->span_, "variable " + op->name_hint_ + noValue);
  if (auto by = replaced.find(op.get()); by != replaced.end())
    fail(op->span_, by->second + " has replaced tile " + op->name_hint_ + " in its buffer; read its result instead");
}

void Lowering::VisitExpr_(const ir::IterArgPtr &op) { VisitExpr_(std::static_pointer_cast<const ir::Var>(op)); }

void Lowering::VisitExpr_(const ir::ConstIntPtr &op) {
  Type type = scalarType(*b.getContext(), op->dtype_);
  result = constant(b.getIntegerAttr(type, op->value_), type);
}

void Lowering::VisitExpr_(const ir::ConstFloatPtr &op) {
  Type type = scalarType(*b.getContext(), op->dtype_);
  if (!llvm::isa<FloatType>(type))
    fail(op->span_, "a float constant of type " + std::string(op->dtype_.Name()));
  result = constant(b.getFloatAttr(type, op->value_), type);
}

void Lowering::VisitExpr_(const ir::ConstBoolPtr &op) {
  result = constant(b.getIntegerAttr(b.getI1Type(), op->value_), b.getI1Type());
}

void Lowering::VisitExpr_(const ir::CallPtr &op) { result = lowerCall(op, nullptr); }

void Lowering::VisitExpr_(const ir::SubmitPtr &op) {
  fail(op->span_, "a kernel submits no tasks; an orchestrator does");
}

void Lowering::VisitExpr_(const ir::MakeTuplePtr &op) { fail(op->span_, "a tuple is not a value of a kernel"); }

Value Lowering::floorMod(Value left, Value right) {
  Value rest = b.create<arith::RemSIOp>(loc, left, right);
  Value zero = constant(b.getIntegerAttr(left.getType(), 0), left.getType());
  // The remainder has the sign of `left`; where that differs from the sign of `right`, one more `right`.
  Value signs = b.create<arith::XOrIOp>(loc, rest, right);
  Value differ = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, signs, zero);
  Value some = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ne, rest, zero);
  Value more = b.create<arith::AddIOp>(loc, rest, right);
  return b.create<arith::SelectOp>(loc, b.create<arith::AndIOp>(loc, differ, some), more, rest);
}

std::optional<arith::CmpIPredicate> comparison(NodeKind kind, bool isSigned) {
  using P = arith::CmpIPredicate;
  switch (kind) {
  case NodeKind::Eq:
    return P::eq;
  case NodeKind::Ne:
    return P::ne;
  case NodeKind::Lt:
    return isSigned ? P::slt : P::ult;
  case NodeKind::Le:
    return isSigned ? P::sle : P::ule;
  case NodeKind::Gt:
    return isSigned ? P::sgt : P::ugt;
  case NodeKind::Ge:
    return isSigned ? P::sge : P::uge;
  default:
    return std::nullopt;
  }
}

Value Lowering::integerBinary(const ir::BinaryExprPtr &op, Value left, Value right) {
  bool sign = isSigned(op->left_) && isSigned(op->right_);
  if (auto predicate = comparison(op->kind(), sign || left.getType().isInteger(1)))
    return b.create<arith::CmpIOp>(loc, *predicate, left, right);
  switch (op->kind()) {
  case NodeKind::Add:
    return b.create<arith::AddIOp>(loc, left, right);
  case NodeKind::Sub:
    return b.create<arith::SubIOp>(loc, left, right);
  case NodeKind::Mul:
    return b.create<arith::MulIOp>(loc, left, right);
  case NodeKind::FloorDiv:
    return sign ? b.create<arith::FloorDivSIOp>(loc, left, right).getResult()
                : b.create<arith::DivUIOp>(loc, left, right).getResult();
  case NodeKind::FloorMod:
    return sign ? floorMod(left, right) : b.create<arith::RemUIOp>(loc, left, right).getResult();
  case NodeKind::Min:
    return sign ? b.create<arith::MinSIOp>(loc, left, right).getResult()
                : b.create<arith::MinUIOp>(loc, left, right).getResult();
  case NodeKind::Max:
    return sign ? b.create<arith::MaxSIOp>(loc, left, right).getResult()
                : b.create<arith::MaxUIOp>(loc, left, right).getResult();
  case NodeKind::And:
  case NodeKind::BitAnd:
    return b.create<arith::AndIOp>(loc, left, right);
  case NodeKind::Or:
  case NodeKind::BitOr:
    return b.create<arith::OrIOp>(loc, left, right);
  case NodeKind::Xor:
  case NodeKind::BitXor:
    return b.create<arith::XOrIOp>(loc, left, right);
  case NodeKind::BitShiftLeft:
    return b.create<arith::ShLIOp>(loc, left, right);
  case NodeKind::BitShiftRight:
    return sign ? b.create<arith::ShRSIOp>(loc, left, right).getResult()
                : b.create<arith::ShRUIOp>(loc, left, right).getResult();
  default:
    return nullptr;
  }
}

std::optional<arith::CmpFPredicate> floatComparison(NodeKind kind) {
  using P = arith::CmpFPredicate;
  switch (kind) {
  case NodeKind::Eq:
    return P::OEQ;
  case NodeKind::Ne:
    return P::UNE;
  case NodeKind::Lt:
    return P::OLT;
  case NodeKind::Le:
    return P::OLE;
  case NodeKind::Gt:
    return P::OGT;
  case NodeKind::Ge:
    return P::OGE;
  default:
    return std::nullopt;
  }
}

Value Lowering::floatBinary(const ir::BinaryExprPtr &op, Value left, Value right) {
  if (auto predicate = floatComparison(op->kind()))
    return b.create<arith::CmpFOp>(loc, *predicate, left, right);
  switch (op->kind()) {
  case NodeKind::Add:
    return b.create<arith::AddFOp>(loc, left, right);
  case NodeKind::Sub:
    return b.create<arith::SubFOp>(loc, left, right);
  case NodeKind::Mul:
    return b.create<arith::MulFOp>(loc, left, right);
  case NodeKind::FloatDiv:
    return b.create<arith::DivFOp>(loc, left, right);
  case NodeKind::Min:
    return b.create<arith::MinimumFOp>(loc, left, right);
  case NodeKind::Max:
    return b.create<arith::MaximumFOp>(loc, left, right);
  default:
    return nullptr;
  }
}

void Lowering::VisitBinaryExpr_(const ir::BinaryExprPtr &op) {
  bool compares = comparison(op->kind(), true).has_value();
  Type type = scalarType(*b.getContext(), op->dtype_);
  if (compares) { // in the type of the operand that is no literal
    auto dtype = ir::ElementTypeOf(ir::IsA<ir::ConstInt>(op->left_) ? op->right_->type_ : op->left_->type_);
    type = dtype ? scalarType(*b.getContext(), *dtype) : type;
  }
  Value left = scalarOf(op->left_, type), right = scalarOf(op->right_, type);
  at(op->span_);
  result = llvm::isa<FloatType>(type) ? floatBinary(op, left, right) : integerBinary(op, left, right);
  if (!result)
    fail(op->span_, "operator " + std::string(ir::OperatorText(op->kind())) + " on scalars of " +
                        std::string(op->dtype_.Name()) + " is not lowered");
}

void Lowering::VisitUnaryExpr_(const ir::UnaryExprPtr &op) {
  Type type = scalarType(*b.getContext(), op->dtype_);
  if (op->kind() == NodeKind::Cast) {
    result = scalarOf(op->operand_, type);
    return;
  }
  Value value = scalarOf(op->operand_, type);
  at(op->span_);
  bool isFloat = llvm::isa<FloatType>(type);
  Value zero = isFloat ? Value() : constant(b.getIntegerAttr(type, 0), type);
  if (op->kind() == NodeKind::Neg)
    result = isFloat ? b.create<arith::NegFOp>(loc, value).getResult()
                     : b.create<arith::SubIOp>(loc, zero, value).getResult();
  else if (op->kind() == NodeKind::Abs)
    result = isFloat ? b.create<arith::MaximumFOp>(loc, value, b.create<arith::NegFOp>(loc, value)).getResult()
                     : b.create<arith::MaxSIOp>(loc, value, b.create<arith::SubIOp>(loc, zero, value)).getResult();
  else if (!isFloat && (op->kind() == NodeKind::Not || op->kind() == NodeKind::BitNot))
    result = b.create<arith::XOrIOp>(loc, value, constant(b.getIntegerAttr(type, -1), type));
  else
    fail(op->span_, "operator " + std::string(ir::OperatorText(op->kind())) + " on scalars of " +
                        std::string(op->dtype_.Name()) + " is not lowered");
}

} // namespace pto_mlir::pypto_frontend
