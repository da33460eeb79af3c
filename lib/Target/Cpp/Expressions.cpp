// Scalars: arithmetic in parentheses, literals, casts.
#include "FunctionEmitter.h"
#include "Helpers.h"
#include "Types.h"
#include "pto_mlir/Target/Cpp/Cpp.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace pto_mlir::cpp {

/// An expression of more characters becomes a variable: shared operands would double it again and again.
static constexpr size_t kLongText = 160;

static std::string integerText(const APInt &value, Type type) {
  if (type.isInteger(1))
    return value.isZero() ? "false" : "true";
  bool isSigned = !type.isUnsignedInteger();
  if (isSigned && value.getBitWidth() == 64 && value.isMinSignedValue())
    return "(-9223372036854775807 - 1)";
  llvm::SmallString<24> digits;
  value.toString(digits, 10, isSigned);
  return isSigned ? digits.str().str() : (digits + "u").str();
}

static std::string floatText(APFloat value, Type type) {
  if (value.isInfinity())
    return value.isNegative() ? "-__builtin_inff()" : "__builtin_inff()";
  if (value.isNaN())
    return "__builtin_nanf(\"\")";
  bool inexact = false;
  if (!type.isF64())
    value.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven, &inexact);
  llvm::SmallString<32> digits;
  value.toString(digits, /*FormatPrecision=*/0, /*FormatMaxPadding=*/12, /*TruncateZero=*/false);
  std::string text = digits.str().str();
  if (text.find_first_of(".eE") == std::string::npos)
    text += ".0";
  return type.isF64() ? text : text + "f";
}

/// The four counts of a merge are the only vector that ops take.
static std::string constantText(Attribute value, Type type) {
  if (auto integer = dyn_cast<IntegerAttr>(value))
    return integerText(integer.getValue(), type);
  if (auto number = dyn_cast<FloatAttr>(value))
    return floatText(number.getValue(), type);
  std::string text;
  if (auto words = dyn_cast<DenseIntElementsAttr>(value); words && words.getNumElements() == 4)
    for (const APInt &word : words)
      text += (text.empty() ? "" : ", ") + std::to_string(word.getZExtValue());
  return text.empty() ? "" : "{" + text + "}";
}

/// The operator between the operands; empty for other ops.
static StringRef infixOf(Operation *op) {
  bool boolean = op->getNumResults() == 1 && op->getResult(0).getType().isInteger(1);
  return llvm::TypeSwitch<Operation *, StringRef>(op)
      .Case<arith::AddIOp, arith::AddFOp>([](auto) { return "+"; })
      .Case<arith::SubIOp, arith::SubFOp>([](auto) { return "-"; })
      .Case<arith::MulIOp, arith::MulFOp>([](auto) { return "*"; })
      .Case<arith::DivSIOp, arith::DivUIOp, arith::DivFOp>([](auto) { return "/"; })
      .Case<arith::RemSIOp, arith::RemUIOp>([](auto) { return "%"; })
      .Case<arith::AndIOp>([&](auto) { return boolean ? "&&" : "&"; })
      .Case<arith::OrIOp>([&](auto) { return boolean ? "||" : "|"; })
      .Case<arith::XOrIOp>([&](auto) { return boolean ? "!=" : "^"; })
      .Case<arith::ShLIOp>([](auto) { return "<<"; })
      .Case<arith::ShRSIOp, arith::ShRUIOp>([](auto) { return ">>"; })
      .Default(StringRef());
}

static bool readsUnsigned(Operation *op) {
  return isa<arith::DivUIOp, arith::RemUIOp, arith::ShRUIOp, arith::MinUIOp, arith::MaxUIOp, arith::CeilDivUIOp>(op);
}

/// Comparison of integers: the operator, and whether it takes them without sign.
static std::pair<StringRef, bool> comparison(arith::CmpIPredicate predicate) {
  switch (predicate) {
  case arith::CmpIPredicate::eq:
    return {"==", false};
  case arith::CmpIPredicate::ne:
    return {"!=", false};
  case arith::CmpIPredicate::slt:
    return {"<", false};
  case arith::CmpIPredicate::sle:
    return {"<=", false};
  case arith::CmpIPredicate::sgt:
    return {">", false};
  case arith::CmpIPredicate::sge:
    return {">=", false};
  case arith::CmpIPredicate::ult:
    return {"<", true};
  case arith::CmpIPredicate::ule:
    return {"<=", true};
  case arith::CmpIPredicate::ugt:
    return {">", true};
  case arith::CmpIPredicate::uge:
    return {">=", true};
  }
  llvm_unreachable("a predicate");
}

/// Ordered comparisons are C++'s; an unordered one is the negation of its opposite.
static std::string comparison(arith::CmpFPredicate predicate, const std::string &a, const std::string &b) {
  using P = arith::CmpFPredicate;
  auto with = [&](StringRef op) { return "(" + a + " " + op.str() + " " + b + ")"; };
  switch (predicate) {
  case P::OEQ:
    return with("==");
  case P::OGT:
    return with(">");
  case P::OGE:
    return with(">=");
  case P::OLT:
    return with("<");
  case P::OLE:
    return with("<=");
  case P::UNE:
    return with("!=");
  case P::UEQ:
    return "(!(" + with("<") + " || " + with(">") + "))";
  case P::ONE:
    return "(" + with("<") + " || " + with(">") + ")";
  case P::UGT:
    return "(!" + with("<=") + ")";
  case P::UGE:
    return "(!" + with("<") + ")";
  case P::ULT:
    return "(!" + with(">=") + ")";
  case P::ULE:
    return "(!" + with(">") + ")";
  case P::ORD:
    return "(" + a + " == " + a + " && " + b + " == " + b + ")";
  case P::UNO:
    return "(" + a + " != " + a + " || " + b + " != " + b + ")";
  case P::AlwaysTrue:
    return "true";
  case P::AlwaysFalse:
    return "false";
  }
  llvm_unreachable("a predicate");
}

std::string FunctionEmitter::castTo(Type type, const Twine &text) const {
  return ("((" + scalarType(type, policy) + ")" + text + ")").str();
}

static Type unsignedOf(Type type) {
  unsigned width = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
  return IntegerType::get(type.getContext(), width, IntegerType::Unsigned);
}

std::optional<std::string> FunctionEmitter::expression(Operation *op) {
  if (op->getNumResults() != 1 || (!isa<arith::ArithDialect>(op->getDialect()) && !isa<ub::PoisonOp>(op)))
    return std::nullopt;
  Type type = op->getResult(0).getType();
  if (Attribute value; matchPattern(op, m_Constant(&value)))
    return isa<ub::PoisonOp>(op) ? "0" : constantText(value, type);
  if (isa<ub::PoisonOp>(op)) // nobody reads it
    return "0";
  auto operand = [&](unsigned k) { return text(op->getOperand(k)).str(); };
  auto unsignedOperand = [&](unsigned k) { return castTo(unsignedOf(op->getOperand(k).getType()), operand(k)); };
  // C++ computes in int, float or wider; the op in its own type.
  auto narrowed = [&](const std::string &text) {
    bool narrow = !type.isIndex() && type.getIntOrFloatBitWidth() > 1 && type.getIntOrFloatBitWidth() < 32;
    return narrow || readsUnsigned(op) ? castTo(type, text) : text;
  };
  if (StringRef infix = infixOf(op); !infix.empty()) {
    std::string left = readsUnsigned(op) ? unsignedOperand(0) : operand(0);
    std::string right = readsUnsigned(op) ? unsignedOperand(1) : operand(1);
    bool wide = type.isIndex() || type.isInteger(64);
    if (wide && matchPattern(op->getOperand(0), m_Constant()) && matchPattern(op->getOperand(1), m_Constant()))
      left = castTo(type, left); // the literals alone would be of type int
    return narrowed("(" + left + " " + infix.str() + " " + right + ")");
  }
  if (StringRef helper = helperOf(op); !helper.empty() && op->getNumOperands() == 2) {
    bool plain = !readsUnsigned(op);
    return narrowed(helper.str() + "(" + (plain ? operand(0) : unsignedOperand(0)) + ", " +
                    (plain ? operand(1) : unsignedOperand(1)) + ")");
  }
  return conversion(op);
}

std::optional<std::string> FunctionEmitter::conversion(Operation *op) {
  Type type = op->getResult(0).getType();
  auto operand = [&](unsigned k) { return text(op->getOperand(k)).str(); };
  auto unsignedOperand = [&](unsigned k) { return castTo(unsignedOf(op->getOperand(k).getType()), operand(k)); };
  return llvm::TypeSwitch<Operation *, std::optional<std::string>>(op)
      .Case([&](arith::CmpIOp compare) {
        auto [infix, without] = comparison(compare.getPredicate());
        return "(" + (without ? unsignedOperand(0) : operand(0)) + " " + infix.str() + " " +
               (without ? unsignedOperand(1) : operand(1)) + ")";
      })
      .Case([&](arith::CmpFOp compare) { return comparison(compare.getPredicate(), operand(0), operand(1)); })
      .Case([&](arith::SelectOp) { return "(" + operand(0) + " ? " + operand(1) + " : " + operand(2) + ")"; })
      .Case([&](arith::NegFOp) { return castTo(type, "-" + operand(0)); })
      .Case([&](arith::BitcastOp) { return "bits_as<" + scalarType(type, policy) + ">(" + operand(0) + ")"; })
      .Case<arith::ExtUIOp, arith::IndexCastUIOp, arith::UIToFPOp>(
          [&](auto) { return castTo(type, unsignedOperand(0)); })
      .Case<arith::ExtSIOp, arith::SIToFPOp>([&](auto) {
        bool boolean = op->getOperand(0).getType().isInteger(1); // as a number it is 0 or -1
        return castTo(type, boolean ? "-(int32_t)" + operand(0) : operand(0));
      })
      .Case([&](arith::TruncIOp) {
        return type.isInteger(1) ? "((" + operand(0) + " & 1) != 0)" : castTo(type, operand(0));
      })
      .Case<arith::FPToUIOp>([&](auto) { return castTo(type, castTo(unsignedOf(type), operand(0))); })
      .Case<arith::IndexCastOp, arith::ExtFOp, arith::TruncFOp, arith::FPToSIOp>(
          [&](auto) { return castTo(type, operand(0)); })
      .Default([](Operation *) { return std::optional<std::string>(); });
}

LogicalResult FunctionEmitter::defineVariable(Value value, const Twine &text) {
  std::string type = scalarType(value.getType(), policy);
  if (type.empty())
    return refuse(value) << "a value of type " << value.getType();
  std::string name = nameFor(value);
  out.line((policy.deducedVariables ? "auto" : type) + " " + name + " = " + text + ";");
  texts[value] = name;
  return success();
}

LogicalResult FunctionEmitter::define(Value value, std::string text) {
  Operation *op = value.getDefiningOp();
  bool literal = op && matchPattern(op, m_Constant()) && !op->hasAttr(kVariableAttr);
  if (!literal && (!sourceName(value).empty() || text.size() > kLongText))
    return defineVariable(value, text);
  texts[value] = std::move(text);
  return success();
}

} // namespace pto_mlir::cpp
