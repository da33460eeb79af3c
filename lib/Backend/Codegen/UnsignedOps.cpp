//===- UnsignedOps.cpp - Shifts, quotients and products without a sign ----===//

#include "Models.h"
#include "Scalars.h"
#include "Types.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace pto_mlir::backend {

namespace {

LogicalResult bothUnsigned(Operation *op, CodegenContext &cg, isa::Value &lhs, isa::Value &rhs) {
  return failure(failed(zeroExtend(op, cg, op->getOperand(0), lhs)) ||
                 failed(zeroExtend(op, cg, op->getOperand(1), rhs)));
}

struct ShiftRightModel : CodegenOpInterface::ExternalModel<ShiftRightModel, arith::ShRUIOp> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const {
    mlir::Value result = op->getResult(0);
    isa::Value lhs, rhs, out;
    if (failed(bothUnsigned(op, cg, lhs, rhs)) || failed(cg.binary<isa::Shr>(op, lhs, rhs, out)))
      return failure();
    return narrow(op, cg, out, result.getType(), result);
  }
};

struct CeilDivUnsignedModel : CodegenOpInterface::ExternalModel<CeilDivUnsignedModel, arith::CeilDivUIOp> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const {
    mlir::Value result = op->getResult(0);
    isa::Value a, b, negated, quotient, out;
    if (failed(bothUnsigned(op, cg, a, b)) || failed(cg.binary<isa::Sub>(op, isa::Value(0), a, negated)) ||
        failed(cg.binary<isa::Div>(op, negated, b, quotient)) ||
        failed(cg.binary<isa::Sub>(op, isa::Value(0), quotient, out)))
      return failure();
    return narrow(op, cg, out, result.getType(), result);
  }
};

LogicalResult checkNarrow(Operation *op) {
  if (widthOf(op->getOperand(0).getType()) < 64)
    return success();
  return op->emitOpError("needs more than the 64 bits of a register; on i32 and narrower it works");
}

/// Two results: the low and the high half of a * b.
template <typename Op, bool isUnsigned>
struct ExtendedProductModel : CodegenOpInterface::ExternalModel<ExtendedProductModel<Op, isUnsigned>, Op> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const {
    isa::Value a, b, product, high;
    Type type = op->getOperand(0).getType();
    if (failed(checkNarrow(op)) ||
        failed(isUnsigned ? bothUnsigned(op, cg, a, b)
                          : LogicalResult(failure(failed(cg.integer(op, op->getOperand(0), a)) ||
                                                  failed(cg.integer(op, op->getOperand(1), b))))) ||
        failed(cg.binary<isa::Mul>(op, a, b, product)) ||
        failed(cg.binary<isa::Shr>(op, product, isa::Value(widthOf(type)), high)))
      return failure();
    return failure(failed(narrow(op, cg, product, type, op->getResult(0))) ||
                   failed(narrow(op, cg, high, type, op->getResult(1))));
  }
};

struct ExtendedSumModel : CodegenOpInterface::ExternalModel<ExtendedSumModel, arith::AddUIExtendedOp> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const {
    isa::Value a, b, sum, carry;
    Type type = op->getOperand(0).getType();
    if (failed(checkNarrow(op)) || failed(bothUnsigned(op, cg, a, b)) || failed(cg.binary<isa::Add>(op, a, b, sum)) ||
        failed(cg.binary<isa::Shr>(op, sum, isa::Value(widthOf(type)), carry, op->getResult(1))))
      return failure();
    cg.define(op->getResult(1), carry);
    return narrow(op, cg, sum, type, op->getResult(0));
  }
};

} // namespace

void attachUnsignedModels(MLIRContext *c) {
  arith::ShRUIOp::attachInterface<ShiftRightModel>(*c);
  arith::CeilDivUIOp::attachInterface<CeilDivUnsignedModel>(*c);
  arith::MulSIExtendedOp::attachInterface<ExtendedProductModel<arith::MulSIExtendedOp, false>>(*c);
  arith::MulUIExtendedOp::attachInterface<ExtendedProductModel<arith::MulUIExtendedOp, true>>(*c);
  arith::AddUIExtendedOp::attachInterface<ExtendedSumModel>(*c);
}

} // namespace pto_mlir::backend
