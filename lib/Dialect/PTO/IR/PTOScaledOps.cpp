//===- PTOScaledOps.cpp - quantisation, products of scaled operands --------------------===//

#include "VerifyHelpers.h"
#include "pto_mlir/Dialect/PTO/IR/PTO.h"

using namespace mlir;
using namespace pto_mlir::pto;

LogicalResult TQuantOp::verify() {
  Type from = elementTypeOf(getSrc().getType()), to = elementTypeOf(getDst().getType());
  if (!from.isF32())
    return emitOpError("expects a source of f32, got ") << from;
  if (getQuantType() == QuantType::INT8_SYM) {
    if (!to.isInteger(8) || to.isUnsignedInteger())
      return emitOpError("expects a destination of i8 for INT8_SYM, got ") << to;
    if (getOffset())
      return emitOpError("expects no offset for INT8_SYM");
  } else {
    if (!to.isUnsignedInteger(8))
      return emitOpError("expects a destination of ui8 for INT8_ASYM, got ") << to;
    if (!getOffset())
      return emitOpError("expects an offset for INT8_ASYM");
  }
  for (Value value : {getSrc(), getDst()})
    if (TileBufType tile = asTile(value); tile && !tile.isRowMajor() && !targetOf(*this).columnMajorOperands)
      return emitOpError("expects row-major tiles on ") << targetOf(*this).name << ", got " << tile;
  return success();
}

LogicalResult TDequantOp::verify() {
  for (Value value : {getSrc(), getDst()})
    if (TileBufType tile = asTile(value); tile && !tile.isRowMajor() && !targetOf(*this).columnMajorOperands)
      return emitOpError("expects row-major tiles on ") << targetOf(*this).name << ", got " << tile;
  return success();
}

/// The scale tile of `operand`: in the scaling memory, of its shape and valid shape.
static LogicalResult verifyScale(Operation *op, Value scaleValue, Value operandValue, StringRef name) {
  TileBufType scale = asTile(scaleValue), operand = asTile(operandValue);
  if (!scale || !operand)
    return success();
  if (scale.getLoc() != AddressSpace::scaling)
    return op->emitOpError("expects ") << name << " in scaling, got " << stringifyAddressSpace(scale.getLoc());
  if (!sameShape(scale, operand) || !sameValid(scale, operand))
    return op->emitOpError("expects ") << name << " of its operand's shape and valid shape, got " << scale << " for "
                                       << operand;
  return success();
}

LogicalResult TGetScaleAddrOp::verify() { return verifyScale(*this, getDst(), getSrc(), "dst"); }

namespace {
enum class Product { matrix, vector };
} // namespace

/// a, b are fp8, dst is f32. The matrix form is taken elsewhere too, without a look at the types, as the assembler
/// does.
template <typename Op> static LogicalResult verifyScaled(Op op, Product product) {
  bool scaled = targetOf(op).scaledProducts;
  if (product == Product::vector) {
    if (!scaled)
      return op.emitOpError("exists on ")
             << targetsWith(&Target::scaledProducts) << " only; the module says otherwise (pto.target_arch)";
    if (failed(verifyScale(op, op.getAScale(), op.getA(), "a_scale")) ||
        failed(verifyScale(op, op.getBScale(), op.getB(), "b_scale")) ||
        failed(verifyVectorProduct(op, op.getA(), op.getDst())))
      return failure();
  }
  Type a = elementTypeOf(op.getA().getType()), b = elementTypeOf(op.getB().getType()),
       d = elementTypeOf(op.getDst().getType());
  auto fp8 = [](Type type) { return isa<FloatType>(type) && type.getIntOrFloatBitWidth() == 8; };
  if (scaled && (!fp8(a) || !fp8(b) || !d.isF32()))
    return op.emitOpError("cannot multiply ")
           << a << " by " << b << " into " << d << "; expects a pair of fp8 into f32";
  return verifyProduct(op, op.getA(), op.getB(), op.getDst());
}
template <typename Op> static LogicalResult verifyScaledAcc(Op op, Product product) {
  TileBufType in = asTile(op.getCIn()), out = asTile(op.getDst());
  if (in && in.getLoc() != AddressSpace::acc)
    return op.emitOpError("expects c_in in acc, got ") << stringifyAddressSpace(in.getLoc());
  if (in && out && targetOf(op).scaledProducts && (in.getElementType() != out.getElementType() || !sameValid(in, out)))
    return op.emitOpError("expects c_in of dst's element type and valid shape, got ") << in << " for " << out;
  return verifyScaled(op, product);
}
template <typename Op> static LogicalResult verifyScaledBias(Op op, Product product) {
  if (failed(verifyScaled(op, product)))
    return failure();
  if (Type type = elementTypeOf(op.getBias().getType()); !type.isF32())
    return op.emitOpError("expects a bias of f32, got ") << type;
  return verifyProductBias(op, op.getBias(), op.getDst());
}

LogicalResult TMatmulMxOp::verify() { return verifyScaled(*this, Product::matrix); }
LogicalResult TGemvMxOp::verify() { return verifyScaled(*this, Product::vector); }
LogicalResult TMatmulMxAccOp::verify() { return verifyScaledAcc(*this, Product::matrix); }
LogicalResult TGemvMxAccOp::verify() { return verifyScaledAcc(*this, Product::vector); }
LogicalResult TMatmulMxBiasOp::verify() { return verifyScaledBias(*this, Product::matrix); }
LogicalResult TGemvMxBiasOp::verify() { return verifyScaledBias(*this, Product::vector); }
