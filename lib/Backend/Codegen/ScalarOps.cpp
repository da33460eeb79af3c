//===- ScalarOps.cpp - arith on integers -> scalar instructions -----------===//
//===----------------------------------------------------------------------===//

#include "Models.h"
#include "Scalars.h"
#include "Types.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace pto_mlir::backend {

std::optional<isa::Value> foldIdentity(isa::Opcode opcode, const isa::Value &lhs, const isa::Value &rhs) {
  using O = isa::Opcode;
  const isa::Value zero(0), one(1);
  bool additive = opcode == O::Add || opcode == O::Or || opcode == O::Xor;
  if (rhs == zero && (additive || opcode == O::Sub || opcode == O::Shl || opcode == O::Shr))
    return lhs;
  if (lhs == zero && additive)
    return rhs;
  if (rhs == one && (opcode == O::Mul || opcode == O::Div))
    return lhs;
  if (lhs == one && opcode == O::Mul)
    return rhs;
  if (opcode == O::Mul && (lhs == zero || rhs == zero))
    return zero;
  if (lhs == rhs && (opcode == O::Min || opcode == O::Max))
    return lhs;
  return std::nullopt;
}

unsigned widthOf(Type type) { return type.isIndex() ? 64 : type.getIntOrFloatBitWidth(); }

LogicalResult narrow(Operation *op, CodegenContext &cg, isa::Value value, Type type, mlir::Value result) {
  isa::Value out = value;
  auto integer = dyn_cast<IntegerType>(type);
  unsigned width = integer ? integer.getWidth() : 64;
  if (width == 1) {
    if (failed(cg.binary<isa::And>(op, value, isa::Value(1), out, result)))
      return failure();
  } else if (width < 64) {
    isa::Value shifted;
    if (failed(cg.binary<isa::Shl>(op, value, isa::Value(64 - width), shifted)) ||
        failed(cg.binary<isa::Shr>(op, shifted, isa::Value(64 - width), out, result)))
      return failure();
  }
  cg.define(result, out);
  return success();
}

LogicalResult zeroExtend(Operation *op, CodegenContext &cg, mlir::Value operand, isa::Value &out) {
  unsigned width = widthOf(operand.getType());
  if (failed(cg.integer(op, operand, out)))
    return failure();
  if (width == 1 || isNonNegative(operand))
    return success();
  if (width == 64)
    return op->emitOpError("is unsigned and its 64-bit operands are not known to be non-negative; use the signed op");
  return cg.binary<isa::And>(op, out, isa::Value(int64_t((uint64_t(1) << width) - 1)), out);
}

namespace {

LogicalResult operands(Operation *op, CodegenContext &cg, isa::Value &lhs, isa::Value &rhs) {
  if (op->getResult(0).getType().isIntOrIndex())
    return failure(failed(cg.integer(op, op->getOperand(0), lhs)) || failed(cg.integer(op, op->getOperand(1), rhs)));
  return op->emitOpError("has no scalar instruction for ") << op->getResult(0).getType();
}

// Unsigned ops are the signed ones on operands without a sign.
LogicalResult unsignedOperands(Operation *op, CodegenContext &cg, isa::Value &lhs, isa::Value &rhs) {
  return failure(failed(zeroExtend(op, cg, op->getOperand(0), lhs)) ||
                 failed(zeroExtend(op, cg, op->getOperand(1), rhs)));
}

template <typename Op, typename Insn, bool isUnsigned = false>
struct BinaryModel : CodegenOpInterface::ExternalModel<BinaryModel<Op, Insn, isUnsigned>, Op> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const {
    isa::Value lhs, rhs, out;
    mlir::Value result = op->getResult(0);
    if (failed(isUnsigned ? unsignedOperands(op, cg, lhs, rhs) : operands(op, cg, lhs, rhs)))
      return failure();
    constexpr isa::Opcode opcode = isa::OpcodeOf<Insn>::value;
    bool mayWrap = isUnsigned || opcode == isa::Opcode::Add || opcode == isa::Opcode::Sub ||
                   opcode == isa::Opcode::Mul || opcode == isa::Opcode::Shl;
    bool wide = result.getType().isIndex() || result.getType().getIntOrFloatBitWidth() == 64;
    if (failed(cg.binary<Insn>(op, lhs, rhs, out, wide || !mayWrap ? result : mlir::Value())))
      return failure();
    if (mayWrap && !wide)
      return narrow(op, cg, out, result.getType(), result);
    cg.define(result, out);
    return success();
  }
};

// The ISA's div and rem round toward minus infinity; divsi and remsi toward zero.
template <typename Op, bool isRemainder>
struct TruncatingModel : CodegenOpInterface::ExternalModel<TruncatingModel<Op, isRemainder>, Op> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const {
    isa::Value a, b, out;
    mlir::Value result = op->getResult(0);
    if (failed(operands(op, cg, a, b)))
      return failure();
    if (isNonNegative(op->getOperand(0)) && isNonNegative(op->getOperand(1))) {
      if (failed(isRemainder ? cg.binary<isa::Rem>(op, a, b, out, result) : cg.binary<isa::Div>(op, a, b, out, result)))
        return failure();
      cg.define(result, out);
      return success();
    }
    // quotient + (quotient < 0 and remainder != 0)
    isa::Value quotient, remainder;
    if (failed(cg.binary<isa::Div>(op, a, b, quotient)) || failed(cg.binary<isa::Rem>(op, a, b, remainder)))
      return failure();
    auto negative = cg.temporary(op), inexact = cg.temporary(op);
    isa::Value fix, product;
    if (failed(negative) || failed(inexact) ||
        failed(cg.emit(op, isa::Cmp{*negative, isa::CompareMode::lt, quotient, 0})) ||
        failed(cg.emit(op, isa::Cmp{*inexact, isa::CompareMode::ne, remainder, 0})) ||
        failed(cg.binary<isa::And>(op, isa::Value::reg(*negative), isa::Value::reg(*inexact), fix)))
      return failure();
    if (isRemainder ? failed(cg.binary<isa::Mul>(op, fix, b, product)) ||
                          failed(cg.binary<isa::Sub>(op, remainder, product, out, result))
                    : failed(cg.binary<isa::Add>(op, quotient, fix, out, result)))
      return failure();
    cg.define(result, out);
    return success();
  }
};

struct CeilDivModel : CodegenOpInterface::ExternalModel<CeilDivModel, arith::CeilDivSIOp> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const {
    isa::Value a, b, negated, quotient, out;
    mlir::Value result = op->getResult(0);
    if (failed(operands(op, cg, a, b)) || failed(cg.binary<isa::Sub>(op, isa::Value(0), a, negated)) ||
        failed(cg.binary<isa::Div>(op, negated, b, quotient)) ||
        failed(cg.binary<isa::Sub>(op, isa::Value(0), quotient, out, result)))
      return failure();
    cg.define(result, out);
    return success();
  }
};

struct ConstantModel : CodegenOpInterface::ExternalModel<ConstantModel, arith::ConstantOp> {
  // Constants become immediates where they are used; the one that counts merged elements is a result without a reader.
  LogicalResult generate(Operation *op, CodegenContext &) const {
    return constantOf(op->getResult(0)) || llvm::isa<VectorType>(op->getResult(0).getType())
               ? success()
               : LogicalResult(op->emitOpError("is no scalar integer or float"));
  }
};

struct CmpModel : CodegenOpInterface::ExternalModel<CmpModel, arith::CmpIOp> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const {
    auto cmp = cast<arith::CmpIOp>(op);
    isa::Value lhs, rhs;
    using P = arith::CmpIPredicate;
    using M = isa::CompareMode;
    P predicate = cmp.getPredicate();
    bool isUnsigned = predicate == P::ult || predicate == P::ule || predicate == P::ugt || predicate == P::uge;
    if (failed(isUnsigned ? unsignedOperands(op, cg, lhs, rhs)
                          : LogicalResult(failure(failed(cg.integer(op, cmp.getLhs(), lhs)) ||
                                                  failed(cg.integer(op, cmp.getRhs(), rhs))))))
      return failure();
    M mode = M::eq;
    switch (predicate) {
    case P::eq:
      mode = M::eq;
      break;
    case P::ne:
      mode = M::ne;
      break;
    case P::slt:
    case P::ult:
      mode = M::lt;
      break;
    case P::sle:
    case P::ule:
      mode = M::le;
      break;
    case P::sgt:
    case P::ugt:
      mode = M::gt;
      break;
    case P::sge:
    case P::uge:
      mode = M::ge;
      break;
    }
    auto dst = cg.registerFor(op, cmp.getResult());
    if (failed(dst) || failed(cg.emit(op, isa::Cmp{*dst, mode, lhs, rhs})))
      return failure();
    cg.define(cmp.getResult(), isa::Value::reg(*dst));
    return success();
  }
};

struct SelectModel : CodegenOpInterface::ExternalModel<SelectModel, arith::SelectOp> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const {
    auto select = cast<arith::SelectOp>(op);
    isa::Value cond, a, b, out;
    if (failed(cg.integer(op, select.getCondition(), cond)))
      return failure();
    if (llvm::isa<pto::TileBufType>(select.getType()))
      return selectTile(select, cg, cond);
    if (!select.getType().isIntOrIndexOrFloat())
      return op->emitOpError("has no scalar instruction for ") << select.getType();
    if (failed(cg.integer(op, select.getTrueValue(), a)) || failed(cg.integer(op, select.getFalseValue(), b)) ||
        failed(choose(select, cg, cond, a, b, out)))
      return failure();
    cg.define(select.getResult(), out);
    return success();
  }

private:
  static LogicalResult choose(arith::SelectOp op, CodegenContext &cg, isa::Value cond, isa::Value a, isa::Value b,
                              isa::Value &out) {
    if (!cond.isRegister || a == b) {
      out = !cond.isRegister && !cond.value ? b : a;
      return success();
    }
    auto dst = cg.registerFor(op, op.getResult());
    if (failed(dst) || failed(cg.emit(op, isa::Select{*dst, cond, a, b})))
      return failure();
    out = isa::Value::reg(*dst);
    return success();
  }

  // Two tiles of one type differ in their addresses and in what the type leaves open of their valid parts.
  static LogicalResult selectTile(arith::SelectOp op, CodegenContext &cg, isa::Value cond) {
    auto a = cg.tileDesc(op, op.getTrueValue()), b = cg.tileDesc(op, op.getFalseValue());
    if (failed(a) || failed(b))
      return failure();
    TileDesc out = *a;
    if (failed(choose(op, cg, cond, a->tile.address, b->tile.address, out.tile.address)) ||
        failed(choose(op, cg, cond, a->tile.validRows, b->tile.validRows, out.tile.validRows)) ||
        failed(choose(op, cg, cond, a->tile.validCols, b->tile.validCols, out.tile.validCols)))
      return failure();
    cg.define(op.getResult(), out);
    return success();
  }
};

// The same number under another type.
template <typename Op> struct SameValueModel : CodegenOpInterface::ExternalModel<SameValueModel<Op>, Op> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const {
    isa::Value value;
    Type from = op->getOperand(0).getType(), to = op->getResult(0).getType();
    if (failed(cg.integer(op, op->getOperand(0), value)))
      return failure();
    // i1 is held as 0 or 1: sign extension makes -1 of it.
    if (std::is_same_v<Op, arith::ExtSIOp> && widthOf(from) == 1) {
      isa::Value out;
      if (failed(cg.binary<isa::Sub>(op, isa::Value(0), value, out, op->getResult(0))))
        return failure();
      cg.define(op->getResult(0), out);
      return success();
    }
    bool zeroExtends =
        (std::is_same_v<Op, arith::ExtUIOp> || std::is_same_v<Op, arith::IndexCastUIOp>) && widthOf(from) < widthOf(to);
    if (zeroExtends && widthOf(from) != 1 && !isNonNegative(op->getOperand(0))) {
      isa::Value out;
      if (failed(cg.binary<isa::And>(op, value, isa::Value(int64_t((uint64_t(1) << widthOf(from)) - 1)), out,
                                     op->getResult(0))))
        return failure();
      cg.define(op->getResult(0), out);
      return success();
    }
    if (widthOf(to) < widthOf(from))
      return narrow(op, cg, value, to.isIndex() ? IntegerType::get(op->getContext(), 64) : to, op->getResult(0));
    cg.define(op->getResult(0), value);
    return success();
  }
};

} // namespace

void attachScalarModels(MLIRContext *c) {
  arith::ConstantOp::attachInterface<ConstantModel>(*c);
  arith::AddIOp::attachInterface<BinaryModel<arith::AddIOp, isa::Add>>(*c);
  arith::SubIOp::attachInterface<BinaryModel<arith::SubIOp, isa::Sub>>(*c);
  arith::MulIOp::attachInterface<BinaryModel<arith::MulIOp, isa::Mul>>(*c);
  arith::FloorDivSIOp::attachInterface<BinaryModel<arith::FloorDivSIOp, isa::Div>>(*c);
  arith::MinSIOp::attachInterface<BinaryModel<arith::MinSIOp, isa::Min>>(*c);
  arith::MaxSIOp::attachInterface<BinaryModel<arith::MaxSIOp, isa::Max>>(*c);
  arith::MinUIOp::attachInterface<BinaryModel<arith::MinUIOp, isa::Min, true>>(*c);
  arith::MaxUIOp::attachInterface<BinaryModel<arith::MaxUIOp, isa::Max, true>>(*c);
  arith::DivUIOp::attachInterface<BinaryModel<arith::DivUIOp, isa::Div, true>>(*c);
  arith::RemUIOp::attachInterface<BinaryModel<arith::RemUIOp, isa::Rem, true>>(*c);
  arith::AndIOp::attachInterface<BinaryModel<arith::AndIOp, isa::And>>(*c);
  arith::OrIOp::attachInterface<BinaryModel<arith::OrIOp, isa::Or>>(*c);
  arith::XOrIOp::attachInterface<BinaryModel<arith::XOrIOp, isa::Xor>>(*c);
  arith::ShLIOp::attachInterface<BinaryModel<arith::ShLIOp, isa::Shl>>(*c);
  arith::ShRSIOp::attachInterface<BinaryModel<arith::ShRSIOp, isa::Shr>>(*c);
  arith::DivSIOp::attachInterface<TruncatingModel<arith::DivSIOp, false>>(*c);
  arith::RemSIOp::attachInterface<TruncatingModel<arith::RemSIOp, true>>(*c);
  arith::CeilDivSIOp::attachInterface<CeilDivModel>(*c);
  arith::CmpIOp::attachInterface<CmpModel>(*c);
  arith::SelectOp::attachInterface<SelectModel>(*c);
  arith::IndexCastOp::attachInterface<SameValueModel<arith::IndexCastOp>>(*c);
  arith::IndexCastUIOp::attachInterface<SameValueModel<arith::IndexCastUIOp>>(*c);
  arith::ExtSIOp::attachInterface<SameValueModel<arith::ExtSIOp>>(*c);
  arith::ExtUIOp::attachInterface<SameValueModel<arith::ExtUIOp>>(*c);
  arith::TruncIOp::attachInterface<SameValueModel<arith::TruncIOp>>(*c);
}

} // namespace pto_mlir::backend
