//===- Requantise.cpp - integer sums to a quantised type ------------------===//

#include "pto_mlir/Kernels/Requantise.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/bit.h"

using namespace mlir;

namespace pto_mlir {

Value Requantisation::emit(OpBuilder &b, Location loc) const {
  auto number = [&](int64_t value) {
    return b.create<arith::ConstantOp>(loc, b.getF32FloatAttr(static_cast<float>(value)));
  };
  Value value = b.create<arith::SIToFPOp>(loc, b.getF32Type(), sum);
  value = b.create<arith::MulFOp>(loc, value, scale);
  if (zero != 0)
    value = b.create<arith::AddFOp>(loc, value, number(zero));
  value = b.create<arith::MaximumFOp>(loc, value, number(least));
  value = b.create<arith::MinimumFOp>(loc, value, number(greatest));
  value = b.create<math::RoundEvenOp>(loc, value);
  return b.create<arith::FPToSIOp>(loc, to, value);
}

/// Steps down from `value` through an op with one constant operand, a whole number; null when it is another op.
template <typename Op> static Value under(Value value, int64_t &number) {
  auto op = value.getDefiningOp<Op>();
  FloatAttr constant;
  if (!op || !matchPattern(op.getRhs(), m_Constant(&constant)))
    return nullptr;
  double real = constant.getValueAsDouble();
  number = static_cast<int64_t>(real);
  return static_cast<double>(number) == real ? op.getLhs() : Value();
}

std::optional<Requantisation> Requantisation::match(Value stored) {
  Requantisation found;
  found.to = stored.getType();
  auto cast = stored.getDefiningOp<arith::FPToSIOp>();
  auto round = cast ? cast.getIn().getDefiningOp<math::RoundEvenOp>() : math::RoundEvenOp();
  Value value = round ? round.getOperand() : Value();
  if (value)
    value = under<arith::MinimumFOp>(value, found.greatest);
  if (value)
    value = under<arith::MaximumFOp>(value, found.least);
  if (!value)
    return std::nullopt;
  if (value.getDefiningOp<arith::AddFOp>()) {
    value = under<arith::AddFOp>(value, found.zero);
    if (!value)
      return std::nullopt;
  }
  auto product = value.getDefiningOp<arith::MulFOp>();
  auto sum = product ? product.getLhs().getDefiningOp<arith::SIToFPOp>() : arith::SIToFPOp();
  if (!sum || !sum.getType().isF32())
    return std::nullopt;
  found.sum = sum.getIn();
  found.scale = product.getRhs();
  return found;
}

bool fitsColumnScale(float scale) { return (llvm::bit_cast<uint32_t>(scale) & 0x1fff) == 0; }

uint64_t quantDescriptor(float scale, int64_t zero) {
  return llvm::bit_cast<uint32_t>(scale) | (static_cast<uint64_t>(zero) & 0x1ff) << 37 | uint64_t(1) << 46;
}

} // namespace pto_mlir
