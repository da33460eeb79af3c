// Scalars of kernels as PyPTO's expressions.
#include "LinearForm.h"
#include "Lowering.h"
#include "Raiser.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using pypto::DataType;

namespace pto_mlir::pypto_frontend {

ir::ExprPtr Raiser::scalar(Operation *op, Value value) {
  ir::ExprPtr found = scalars.lookup(value);
  if (!found)
    op->emitOpError("takes a number that PyPTO has no form for");
  return found;
}

FailureOr<ir::ExprPtr> Raiser::list(Operation *op, ValueRange values) {
  std::vector<ir::ExprPtr> elements;
  for (Value value : values) {
    elements.push_back(scalar(op, value));
    if (!elements.back())
      return failure();
  }
  return ir::ExprPtr(std::make_shared<const ir::MakeTuple>(elements, ir::Span()));
}

ir::ExprPtr Raiser::sum(Operation *op, const LinearForm &form) {
  ir::ExprPtr sum;
  auto add = [&](ir::NodeKind kind, const ir::ExprPtr &part) {
    sum = sum ? ir::MakeBinary(kind, sum, part, DataType::INDEX, ir::Span()) : part;
  };
  for (auto [value, coefficient] : form.terms) {
    ir::ExprPtr part = scalar(op, value);
    if (!part)
      return nullptr;
    bool negative = sum && coefficient < 0;
    if (int64_t times = negative ? -coefficient : coefficient; times != 1)
      part = ir::MakeBinary(ir::NodeKind::Mul, part, numberOf(times), DataType::INDEX, ir::Span());
    add(negative ? ir::NodeKind::Sub : ir::NodeKind::Add, part);
  }
  if (form.constant || !sum)
    add(ir::NodeKind::Add, numberOf(form.constant));
  return sum;
}

static std::optional<ir::NodeKind> comparisonOf(Operation *op) {
  using K = ir::NodeKind;
  auto integers = dyn_cast<arith::CmpIOp>(op);
  for (K kind : {K::Eq, K::Ne, K::Lt, K::Le, K::Gt, K::Ge})
    if (integers ? integers.getPredicate() == comparison(kind, /*isSigned=*/true)
                 : cast<arith::CmpFOp>(op).getPredicate() == floatComparison(kind))
      return kind;
  return std::nullopt;
}

/// The type in which PyPTO computes what has this type.
static DataType computedIn(Type type) {
  return type.isInteger(1) ? DataType::BOOL : type.isInteger(64) ? DataType::INDEX : *dtypeOf(type);
}

/// The operator of PyPTO that computes the same, in integers as wide.
static std::optional<ir::NodeKind> kindOf(Operation *op) {
  using K = std::optional<ir::NodeKind>;
  if (op->getNumOperands() != 2 || op->getNumResults() != 1)
    return std::nullopt;
  if (mlir::isa<arith::CmpIOp, arith::CmpFOp>(op))
    return comparisonOf(op);
  Type type = op->getResult(0).getType();
  StringRef name = op->getName().stripDialect();
  if (type.isF32())
    return llvm::StringSwitch<K>(name)
        .Case("addf", ir::NodeKind::Add)
        .Case("subf", ir::NodeKind::Sub)
        .Case("mulf", ir::NodeKind::Mul)
        .Case("divf", ir::NodeKind::FloatDiv)
        .Case("minimumf", ir::NodeKind::Min)
        .Case("maximumf", ir::NodeKind::Max)
        .Default(std::nullopt);
  if (type.isInteger(1))
    return llvm::StringSwitch<K>(name)
        .Case("andi", ir::NodeKind::And)
        .Case("ori", ir::NodeKind::Or)
        .Default(std::nullopt);
  if (!type.isIndex() && !type.isInteger(64) && !type.isInteger(32))
    return std::nullopt;
  return llvm::StringSwitch<K>(name)
      .Case("addi", ir::NodeKind::Add)
      .Case("subi", ir::NodeKind::Sub)
      .Case("muli", ir::NodeKind::Mul)
      .Case("minsi", ir::NodeKind::Min)
      .Case("maxsi", ir::NodeKind::Max)
      .Cases("floordivsi", "divsi", ir::NodeKind::FloorDiv)
      .Case("remsi", ir::NodeKind::FloorMod)
      .Default(std::nullopt);
}

LogicalResult Raiser::constant(arith::ConstantOp op) {
  auto dtype = dtypeOf(op.getType());
  auto integer = dyn_cast<IntegerAttr>(op.getValue());
  auto real = dyn_cast<FloatAttr>(op.getValue());
  if (op.getType().isInteger(1))
    scalars[op] = std::make_shared<const ir::ConstBool>(integer.getValue().getBoolValue(), ir::Span());
  else if (dtype && integer)
    scalars[op] = numberOf(integer.getInt(), *dtype);
  else if (dtype && real)
    scalars[op] = std::make_shared<const ir::ConstFloat>(real.getValueAsDouble(), *dtype, ir::Span());
  else
    return op->emitOpError("has no form in PyPTO");
  return success();
}

/// PyPTO has numbers of 64 bits, and narrower ones where an element or an argument has that type.
LogicalResult Raiser::convert(Operation *op, ir::ExprPtr value) {
  Type from = op->getOperand(0).getType(), to = op->getResult(0).getType();
  if (from.isInteger(1) || to.isInteger(1) || !dtypeOf(from) || !dtypeOf(to))
    return op->emitOpError("has no form in PyPTO");
  if (computedIn(from) != computedIn(to)) {
    Bounds bounds = boundsOf(op->getOperand(0));
    if (mlir::isa<arith::IndexCastUIOp>(op) && (!bounds.least || *bounds.least < 0))
      return op->emitOpError("widens what may be negative as if it had no sign, for which PyPTO has no form");
    value = ir::MakeUnary(ir::NodeKind::Cast, value, computedIn(to), ir::Span());
  }
  scalars[op->getResult(0)] = value;
  return success();
}

/// A branch whose arms hand on a number each.
LogicalResult Raiser::select(arith::SelectOp op, ArrayRef<ir::ExprPtr> operands) {
  auto dtype = op.getType().isInteger(1) ? std::optional(DataType::BOOL) : dtypeOf(op.getType());
  if (!dtype)
    return op->emitOpError("has no form in PyPTO");
  auto arm = [](const ir::ExprPtr &value) -> ir::StmtPtr {
    auto yield = std::make_shared<const ir::YieldStmt>(std::vector<ir::ExprPtr>{value}, ir::Span());
    return std::make_shared<const ir::SeqStmts>(std::vector<ir::StmtPtr>{yield}, ir::Span());
  };
  ir::VarPtr result = variable("r", std::make_shared<const ir::ScalarType>(computedIn(op.getType())));
  out.push_back(std::make_shared<const ir::IfStmt>(operands[0], arm(operands[1]), std::optional(arm(operands[2])),
                                                   std::vector<ir::VarPtr>{result}, ir::Span()));
  scalars[op] = result;
  return success();
}

LogicalResult Raiser::arithmetic(Operation *op) {
  if (auto number = dyn_cast<arith::ConstantOp>(op))
    return constant(number);
  std::vector<ir::ExprPtr> operands;
  for (Value operand : op->getOperands()) {
    operands.push_back(scalar(op, operand));
    if (!operands.back())
      return failure();
  }
  if (mlir::isa<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtSIOp, arith::TruncIOp>(op))
    return convert(op, operands[0]);
  if (auto choice = dyn_cast<arith::SelectOp>(op))
    return select(choice, operands);
  auto kind = kindOf(op);
  if (!kind)
    return op->emitOpError("has no form in PyPTO");
  Type type = op->getResult(0).getType();
  DataType dtype = computedIn(type);
  auto combine = [&](ir::NodeKind how, const ir::ExprPtr &a, const ir::ExprPtr &b) {
    return ir::ExprPtr(ir::MakeBinary(how, a, b, dtype, ir::Span()));
  };
  ir::ExprPtr made = combine(*kind, operands[0], operands[1]);
  if (mlir::isa<arith::DivSIOp, arith::RemSIOp>(op)) {
    Bounds value = boundsOf(op->getOperand(0)), by = boundsOf(op->getOperand(1));
    if (!by.least || *by.least <= 0)
      return op->emitOpError("divides by what may be negative, which rounds toward zero here and down in PyPTO");
    if (!value.least || *value.least < 0) { // the parts above and below zero each by themselves
      ir::ExprPtr zero = numberOf(0, dtype);
      ir::ExprPtr above = combine(ir::NodeKind::Max, operands[0], zero);
      ir::ExprPtr below = combine(ir::NodeKind::Max, combine(ir::NodeKind::Sub, zero, operands[0]), zero);
      made = combine(ir::NodeKind::Sub, combine(*kind, above, operands[1]), combine(*kind, below, operands[1]));
    }
  }
  // What several read is computed once.
  bool several = !op->getResult(0).use_empty() && !op->getResult(0).hasOneUse();
  scalars[op->getResult(0)] = several ? assign("n", made->type_, made) : made;
  return success();
}

} // namespace pto_mlir::pypto_frontend
