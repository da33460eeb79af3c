// Numbers of a host program as numbers of engine S.
#include "GraphKernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "pto_mlir/Dialect/VM/IR/VMProgram.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace pto_mlir {

Type numberType(Type type) { return type.isF64() ? Float32Type::get(type.getContext()) : type; }

static Value addBinary(OpBuilder &b, Location loc, StringRef kind, ValueRange operands) {
  auto make = [&](auto op) -> Value { return b.create<decltype(op)>(loc, operands[0], operands[1]); };
#define PTO_BINARY(name, type)                                                                                         \
  if (kind == name)                                                                                                    \
    return make(arith::type());
  PTO_BINARY("iadd", AddIOp)
  PTO_BINARY("isub", SubIOp)
  PTO_BINARY("imul", MulIOp)
  PTO_BINARY("ifloordiv", FloorDivSIOp)
  PTO_BINARY("imin", MinSIOp)
  PTO_BINARY("imax", MaxSIOp)
  PTO_BINARY("iand", AndIOp)
  PTO_BINARY("ior", OrIOp)
  PTO_BINARY("ixor", XOrIOp)
  PTO_BINARY("ishl", ShLIOp)
  PTO_BINARY("ishr", ShRSIOp)
  PTO_BINARY("fadd", AddFOp)
  PTO_BINARY("fsub", SubFOp)
  PTO_BINARY("fmul", MulFOp)
  PTO_BINARY("fdiv", DivFOp)
  PTO_BINARY("fmin", MinimumFOp)
  PTO_BINARY("fmax", MaximumFOp)
#undef PTO_BINARY
  return {};
}

static Value addConversion(OpBuilder &b, Location loc, Value value, Type to, bool isUnsigned) {
  Type from = value.getType();
  if (from == to)
    return value;
  if (mlir::isa<FloatType>(from) && mlir::isa<IntegerType>(to))
    return b.create<arith::FPToSIOp>(loc, to, value);
  if (mlir::isa<IntegerType>(from) && mlir::isa<FloatType>(to))
    return b.create<arith::SIToFPOp>(loc, to, value);
  if (!mlir::isa<IntegerType>(from) || !mlir::isa<IntegerType>(to))
    return {};
  if (from.getIntOrFloatBitWidth() > to.getIntOrFloatBitWidth())
    return b.create<arith::TruncIOp>(loc, to, value);
  if (isUnsigned)
    return b.create<arith::ExtUIOp>(loc, to, value);
  return b.create<arith::ExtSIOp>(loc, to, value);
}

Value addNumber(OpBuilder &b, Location loc, Operation *op, ValueRange operands) {
  return TypeSwitch<Operation *, Value>(op)
      .Case<vm::BinaryOp>([&](vm::BinaryOp binary) { return addBinary(b, loc, binary.getKind(), operands); })
      .Case<vm::CompareOp>([&](vm::CompareOp compare) -> Value {
        if (mlir::isa<FloatType>(operands[0].getType()))
          return b.create<arith::CmpFOp>(loc, arith::CmpFPredicate(compare.getPredicate()), operands[0], operands[1]);
        return b.create<arith::CmpIOp>(loc, arith::CmpIPredicate(compare.getPredicate()), operands[0], operands[1]);
      })
      .Case<vm::NegateOp>([&](auto) { return b.create<arith::NegFOp>(loc, operands[0]); })
      .Case<vm::SelectOp>([&](auto) { return b.create<arith::SelectOp>(loc, operands[0], operands[1], operands[2]); })
      .Case<vm::ConvertOp>([&](vm::ConvertOp convert) {
        Type to = numberType(convert.getResult().getType());
        return addConversion(b, loc, operands[0], to, bool(convert.getIsUnsigned()));
      })
      .Default(Value());
}

} // namespace pto_mlir
