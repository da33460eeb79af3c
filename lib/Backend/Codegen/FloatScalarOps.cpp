//===- FloatScalarOps.cpp - arith on floats -> scalar instructions --------===//
//
// A scalar of f16 or bf16 is held as f32 and rounded after each operation: f32 has more than twice their digits, so the
// result is the one of the narrow type.
//
//===----------------------------------------------------------------------===//

#include "Models.h"
#include "Scalars.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "pto_mlir/ISA/FloatScalar.h"

using namespace mlir;

namespace pto_mlir::backend {

namespace {

LogicalResult checkType(Operation *op, Type type) {
  if (type.isF32() || type.isF16() || type.isBF16())
    return success();
  return op->emitOpError("has no scalar instruction for ") << type << "; f32, f16 and bf16 have";
}

/// result = the number in `value`, rounded to `type` where that is narrower than f32.
LogicalResult defineRounded(Operation *op, CodegenContext &cg, isa::Value value, Type type, mlir::Value result) {
  if (!type.isF32()) {
    auto dst = cg.registerFor(op, result);
    if (failed(dst) ||
        failed(cg.emit(
            op, isa::Fcvt{*dst, type.isF16() ? isa::ScalarCast::round_f16 : isa::ScalarCast::round_bf16, value})))
      return failure();
    value = isa::Value::reg(*dst);
  }
  cg.define(result, value);
  return success();
}

template <typename Op, isa::FloatOp code>
struct FloatModel : CodegenOpInterface::ExternalModel<FloatModel<Op, code>, Op> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const {
    isa::Farith insn;
    insn.op = code;
    Type type = op->getResult(0).getType();
    if (failed(checkType(op, type)) || failed(cg.integer(op, op->getOperand(0), insn.lhs)) ||
        failed(cg.integer(op, op->getOperand(1), insn.rhs)))
      return failure();
    auto dst = type.isF32() ? cg.registerFor(op, op->getResult(0)) : cg.temporary(op);
    if (failed(dst))
      return failure();
    insn.dst = *dst;
    if (failed(cg.emit(op, insn)))
      return failure();
    return defineRounded(op, cg, isa::Value::reg(*dst), type, op->getResult(0));
  }
};

struct NegModel : CodegenOpInterface::ExternalModel<NegModel, arith::NegFOp> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const {
    isa::Value value, out;
    mlir::Value result = op->getResult(0);
    if (failed(checkType(op, result.getType())) || failed(cg.integer(op, op->getOperand(0), value)) ||
        failed(cg.binary<isa::Xor>(op, value, isa::Value(INT32_MIN), out, result)))
      return failure();
    cg.define(result, out);
    return success();
  }
};

struct FloatCompareModel : CodegenOpInterface::ExternalModel<FloatCompareModel, arith::CmpFOp> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const {
    auto cmp = cast<arith::CmpFOp>(op);
    isa::Fcmp insn;
    insn.mode = isa::FloatCompare(unsigned(cmp.getPredicate())); // numbered alike
    static_assert(unsigned(arith::CmpFPredicate::UNO) == unsigned(isa::FloatCompare::uno));
    if (failed(checkType(op, cmp.getLhs().getType())) || failed(cg.integer(op, cmp.getLhs(), insn.lhs)) ||
        failed(cg.integer(op, cmp.getRhs(), insn.rhs)))
      return failure();
    auto dst = cg.registerFor(op, cmp.getResult());
    if (failed(dst))
      return failure();
    insn.dst = *dst;
    cg.define(cmp.getResult(), isa::Value::reg(*dst));
    return cg.emit(op, insn);
  }
};

template <typename Op, bool isUnsigned>
struct FromIntModel : CodegenOpInterface::ExternalModel<FromIntModel<Op, isUnsigned>, Op> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const {
    Type from = op->getOperand(0).getType(), to = op->getResult(0).getType();
    isa::Fcvt insn;
    bool wide = widthOf(from) == 64;
    insn.cast = isUnsigned && wide ? isa::ScalarCast::from_unsigned : isa::ScalarCast::from_signed;
    if (failed(checkType(op, to)) || failed(isUnsigned && !wide ? zeroExtend(op, cg, op->getOperand(0), insn.src)
                                                                : cg.integer(op, op->getOperand(0), insn.src)))
      return failure();
    // Through f32 a number may be rounded twice: only where the narrow type and f32 both cannot hold it.
    if (!to.isF32() && widthOf(from) > 24)
      return op->emitOpError("rounds twice from ") << from << " to " << to << "; convert to f32, then truncate";
    if (!isUnsigned && widthOf(from) == 1) // i1 is held as 0 or 1, its only other signed value is -1
      if (failed(cg.binary<isa::Sub>(op, isa::Value(0), insn.src, insn.src)))
        return failure();
    auto dst = cg.registerFor(op, op->getResult(0));
    if (failed(dst))
      return failure();
    insn.dst = *dst;
    if (failed(cg.emit(op, insn)))
      return failure();
    return defineRounded(op, cg, isa::Value::reg(*dst), to, op->getResult(0));
  }
};

template <typename Op, isa::ScalarCast code>
struct ToIntModel : CodegenOpInterface::ExternalModel<ToIntModel<Op, code>, Op> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const {
    isa::Fcvt insn;
    insn.cast = code;
    auto dst = cg.temporary(op);
    if (failed(checkType(op, op->getOperand(0).getType())) || failed(cg.integer(op, op->getOperand(0), insn.src)) ||
        failed(dst))
      return failure();
    insn.dst = *dst;
    if (failed(cg.emit(op, insn)))
      return failure();
    return narrowOrKeep(op, cg, *dst);
  }
  static LogicalResult narrowOrKeep(Operation *op, CodegenContext &cg, uint8_t value) {
    mlir::Value result = op->getResult(0);
    if (widthOf(result.getType()) < 64)
      return narrow(op, cg, isa::Value::reg(value), result.getType(), result);
    cg.define(result, isa::Value::reg(value));
    return success();
  }
};

struct ExtModel : CodegenOpInterface::ExternalModel<ExtModel, arith::ExtFOp> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const {
    isa::Value value;
    if (failed(checkType(op, op->getResult(0).getType())) || failed(checkType(op, op->getOperand(0).getType())) ||
        failed(cg.integer(op, op->getOperand(0), value)))
      return failure();
    cg.define(op->getResult(0), value);
    return success();
  }
};

struct TruncModel : CodegenOpInterface::ExternalModel<TruncModel, arith::TruncFOp> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const {
    auto trunc = cast<arith::TruncFOp>(op);
    isa::Value value;
    if (trunc.getRoundingmode() && *trunc.getRoundingmode() != arith::RoundingMode::to_nearest_even)
      return op->emitOpError("rounds otherwise than to nearest even, which has no scalar instruction");
    if (failed(checkType(op, trunc.getType())) || failed(checkType(op, trunc.getIn().getType())) ||
        failed(cg.integer(op, trunc.getIn(), value)))
      return failure();
    return defineRounded(op, cg, value, trunc.getType(), trunc.getResult());
  }
};

/// Only between f32 and i32: registers hold narrower floats as f32, not as their own bits.
struct BitcastModel : CodegenOpInterface::ExternalModel<BitcastModel, arith::BitcastOp> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const {
    Type from = op->getOperand(0).getType(), to = op->getResult(0).getType();
    isa::Value value;
    auto known = [](Type type) { return type.isF32() || type.isInteger(32); };
    if (!known(from) || !known(to))
      return op->emitOpError("has no scalar instruction from ")
             << from << " to " << to << "; between f32 and i32 it has";
    if (failed(cg.integer(op, op->getOperand(0), value)))
      return failure();
    return to.isF32() ? (cg.define(op->getResult(0), value), success()) : narrow(op, cg, value, to, op->getResult(0));
  }
};

} // namespace

void attachFloatScalarModels(MLIRContext *c) {
  using O = isa::FloatOp;
  arith::AddFOp::attachInterface<FloatModel<arith::AddFOp, O::add>>(*c);
  arith::SubFOp::attachInterface<FloatModel<arith::SubFOp, O::sub>>(*c);
  arith::MulFOp::attachInterface<FloatModel<arith::MulFOp, O::mul>>(*c);
  arith::DivFOp::attachInterface<FloatModel<arith::DivFOp, O::div>>(*c);
  arith::RemFOp::attachInterface<FloatModel<arith::RemFOp, O::rem>>(*c);
  arith::MaximumFOp::attachInterface<FloatModel<arith::MaximumFOp, O::maximum>>(*c);
  arith::MinimumFOp::attachInterface<FloatModel<arith::MinimumFOp, O::minimum>>(*c);
  arith::MaxNumFOp::attachInterface<FloatModel<arith::MaxNumFOp, O::maxnum>>(*c);
  arith::MinNumFOp::attachInterface<FloatModel<arith::MinNumFOp, O::minnum>>(*c);
  arith::NegFOp::attachInterface<NegModel>(*c);
  arith::CmpFOp::attachInterface<FloatCompareModel>(*c);
  arith::SIToFPOp::attachInterface<FromIntModel<arith::SIToFPOp, false>>(*c);
  arith::UIToFPOp::attachInterface<FromIntModel<arith::UIToFPOp, true>>(*c);
  arith::FPToSIOp::attachInterface<ToIntModel<arith::FPToSIOp, isa::ScalarCast::to_signed>>(*c);
  arith::FPToUIOp::attachInterface<ToIntModel<arith::FPToUIOp, isa::ScalarCast::to_unsigned>>(*c);
  arith::ExtFOp::attachInterface<ExtModel>(*c);
  arith::TruncFOp::attachInterface<TruncModel>(*c);
  arith::BitcastOp::attachInterface<BitcastModel>(*c);
}

} // namespace pto_mlir::backend
