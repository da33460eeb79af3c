//===- PTOCubeOps.cpp - the matrix engine -------------------------------------------------===//

#include "VerifyHelpers.h"

using namespace mlir;
using namespace pto_mlir::pto;

static LogicalResult expectLoc(Operation *op, TileBufType tile, AddressSpace loc, StringRef name) {
  if (!tile || tile.getLoc() == loc)
    return success();
  return op->emitOpError("expects ") << name << " in " << stringifyAddressSpace(loc) << ", got "
                                     << stringifyAddressSpace(tile.getLoc());
}

LogicalResult pto_mlir::pto::verifyProduct(Operation *op, Value l, Value r, Value d, bool checkTypes) {
  TileBufType left = asTile(l), right = asTile(r), acc = asTile(d);
  if (failed(expectLoc(op, left, AddressSpace::left, "lhs")) ||
      failed(expectLoc(op, right, AddressSpace::right, "rhs")) || failed(expectLoc(op, acc, AddressSpace::acc, "dst")))
    return failure();
  if (!left || !right || !acc)
    return success();
  if (left.getCols() != right.getRows() || left.getRows() != acc.getRows() || right.getCols() != acc.getCols())
    return op->emitOpError("expects [M,K] x [K,N] -> [M,N], got ")
           << boxText(left) << " x " << boxText(right) << " -> " << boxText(acc);
  for (int64_t extent : {left.getValidRows(), left.getValidCols(), right.getValidCols()})
    if (!ShapedType::isDynamic(extent) && (extent < 1 || extent > 4095))
      return op->emitOpError("expects valid m, k and n of 1 to 4095, got ") << extent;
  if (!checkTypes)
    return success();
  Type a = left.getElementType(), b = right.getElementType(), c = acc.getElementType();
  auto byteFloat = [](Type type) { return isa<FloatType>(type) && type.getIntOrFloatBitWidth() == 8; };
  bool fp8 = byteFloat(a) && byteFloat(b);
  bool legal = (c.isInteger(32) && a.isInteger(8) && b.isInteger(8)) ||
               (c.isF32() && a == b && (a.isF16() || a.isBF16() || a.isF32())) ||
               (c.isF32() && fp8 && targetOf(op).scaledProducts);
  if (!legal)
    return op->emitOpError("cannot multiply ")
           << a << " by " << b << " into " << c << "; expects i8, i8 into i32 or a pair of f16, bf16 or f32 into f32";
  return success();
}

LogicalResult pto_mlir::pto::verifyProductBias(Operation *op, Value b, Value d) {
  TileBufType bias = asTile(b), acc = asTile(d);
  if (failed(expectLoc(op, bias, AddressSpace::bias, "bias")))
    return failure();
  if (!bias || !acc)
    return success();
  if (bias.getRows() != 1)
    return op->emitOpError("expects a bias of one row, got ") << boxText(bias);
  if (bias.getElementType() != acc.getElementType())
    return op->emitOpError("expects a bias of ") << acc.getElementType() << ", got " << bias.getElementType();
  return success();
}

LogicalResult pto_mlir::pto::verifyVectorProduct(Operation *op, Value l, Value d) {
  for (Value value : {l, d})
    if (TileBufType tile = asTile(value); tile && !sameExtent(tile.getValidRows(), 1))
      return op->emitOpError("expects one valid row, got ") << validText(tile);
  return success();
}

LogicalResult TMatmulOp::verify() { return verifyProduct(*this, getLhs(), getRhs(), getDst(), true); }
LogicalResult TMatmulAccOp::verify() {
  if (failed(expectLoc(*this, asTile(getAcc()), AddressSpace::acc, "acc")))
    return failure();
  return verifyProduct(*this, getLhs(), getRhs(), getDst(), false);
}
LogicalResult TMatmulBiasOp::verify() {
  return failed(verifyProduct(*this, getLhs(), getRhs(), getDst(), true))
             ? failure()
             : verifyProductBias(*this, getBias(), getDst());
}
LogicalResult TGemvOp::verify() {
  return failed(verifyProduct(*this, getLhs(), getRhs(), getDst(), true))
             ? failure()
             : verifyVectorProduct(*this, getLhs(), getDst());
}
LogicalResult TGemvAccOp::verify() {
  if (failed(expectLoc(*this, asTile(getAcc()), AddressSpace::acc, "acc")) ||
      failed(verifyProduct(*this, getLhs(), getRhs(), getDst(), false)))
    return failure();
  return verifyVectorProduct(*this, getLhs(), getDst());
}
LogicalResult TGemvBiasOp::verify() {
  if (failed(verifyProduct(*this, getLhs(), getRhs(), getDst(), true)) ||
      failed(verifyProductBias(*this, getBias(), getDst())))
    return failure();
  return verifyVectorProduct(*this, getLhs(), getDst());
}
