//===- NarrowFloats.cpp - floats of 8 and 4 bits from and to their codes ---===//
//
// In the bits of f32, where both directions are exact. A number has its exponent and mantissa side by side in its code
// as in f32; below the least normal number of the small type codes are multiples of its last place. Each side is
// computed with the number held at the border between them, so that their sum needs no choice. The vector cores of a3
// have no `and` and `or` of 32 bits: signs are shifted down and added.
//
//===----------------------------------------------------------------------===//

#include "pto_mlir/Dialect/Top/IR/NarrowFloats.h"
#include "../Patterns.h"
#include "FloatBody.h"
#include "pto_mlir/Dialect/Top/IR/Top.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <cmath>
#include <cstring>

using namespace mlir;

namespace pto_mlir::top_to_linalg {
namespace {

constexpr int kMantissa = 23, kBias = 127; // of f32
constexpr int32_t kInfinity = 0x7f800000, kNaN = 0x7fc00000;

int32_t bitsOf(float value) {
  int32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

/// Choices of integers by the elements of a body.
struct Body : FloatBody {
  Value magnitude(Value x) { return bits(abs(x)); }
  /// `chosen` where the comparison of integers holds, else `other`.
  Value where(Value x, arith::CmpIPredicate mode, int32_t y, int32_t chosen, Value other) {
    Value holds = b.create<arith::CmpIOp>(loc, mode, x, integer(y));
    return choose(holds, integer(chosen), other);
  }
  Value whereBelowZero(Value x, int32_t chosen, Value other) { return choose(less(x, 0), integer(chosen), other); }
};
using P = arith::CmpIPredicate;

/// The value of a finite code without sign.
float valueOf(const SmallFloat &format, int code) {
  int fraction = code & ((1 << format.mantissaBits) - 1), exponent = code >> format.mantissaBits;
  int whole = exponent == 0 ? fraction : fraction + (1 << format.mantissaBits);
  return std::ldexp(float(whole), format.minExponent + std::max(exponent - 1, 0) - format.mantissaBits);
}

/// The bits of the least f32 that rounds to what follows `most`: the tie goes there if `most` is odd.
int32_t firstBeyond(const SmallFloat &format) {
  float most = valueOf(format, format.most), place = most - valueOf(format, format.most - 1);
  return bitsOf(most + place / 2) + (format.most % 2 == 0);
}

/// The code, without sign, of a magnitude that is at most the largest finite number.
Value encodeFinite(Body f, const SmallFloat &format, Value magnitude) {
  int32_t least = bitsOf(std::ldexp(1.0f, format.minExponent)); // normal number
  int dropped = kMantissa - format.mantissaBits;
  Value normal = f.of<arith::MaxSIOp>(magnitude, least);
  Value minusOdd = f.of<arith::ShRSIOp>(f.of<arith::ShLIOp>(normal, 31 - dropped), 31);
  normal = f.of<arith::AddIOp>(f.of<arith::SubIOp>(normal, minusOdd), (1 << (dropped - 1)) - 1);
  normal = f.of<arith::ShRSIOp>(normal, dropped);
  // Beside this number the last place of f32 is that of the small type's least numbers: the addition rounds.
  float base = std::ldexp(1.0f, kMantissa - format.mantissaBits + format.minExponent);
  Value small = f.fromBits(f.of<arith::MinSIOp>(magnitude, least));
  small = f.bits(f.of<arith::AddFOp>(small, f.number(base)));
  int32_t offset =
      ((format.minExponent + kBias - 1) << format.mantissaBits) + bitsOf(base) + (1 << format.mantissaBits);
  return f.of<arith::SubIOp>(f.of<arith::AddIOp>(normal, small), offset);
}

/// The codes of what is beyond the largest number and of NaN in the place of `code`.
Value chooseSpecial(Body f, const SmallFloat &format, bool overflows, Value magnitude, Value code) {
  if (overflows)
    code = f.where(magnitude, P::sge, firstBeyond(format), format.beyond, code);
  return f.where(magnitude, P::sgt, kInfinity, format.nan, code);
}

Value encode(Body f, const SmallFloat &format, bool overflows, Value x) {
  Value magnitude = f.magnitude(x);
  Value code = encodeFinite(f, format, f.of<arith::MinSIOp>(magnitude, bitsOf(valueOf(format, format.most))));
  Value sign = f.of<arith::MulIOp>(f.of<arith::ShRSIOp>(f.bits(x), 31), -format.signBit());
  if (format.isUnsignedZero)
    sign = f.where(code, P::eq, 0, 0, sign);
  // The NaN of some formats has its sign in its code.
  if (format.nan >= format.signBit())
    return chooseSpecial(f, format, overflows, magnitude, f.of<arith::AddIOp>(code, sign));
  return f.of<arith::AddIOp>(chooseSpecial(f, format, overflows, magnitude, code), sign);
}

Value decode(Body f, const SmallFloat &format, Value code) {
  int32_t border = 1 << format.mantissaBits; // code of the least normal number
  int added = kMantissa - format.mantissaBits;
  Value sign = f.of<arith::ShRSIOp>(code, format.bits - 1);
  Value magnitude = f.of<arith::SubIOp>(code, f.of<arith::ShLIOp>(sign, format.bits - 1));
  Value normal = f.of<arith::ShLIOp>(f.of<arith::MaxSIOp>(magnitude, border), added);
  normal = f.fromBits(f.of<arith::AddIOp>(normal, (format.minExponent + kBias - 1) << kMantissa));
  Value small = f.toFloat(f.of<arith::MinSIOp>(magnitude, border));
  small = f.of<arith::MulFOp>(small, f.number(std::ldexp(1.0f, format.minExponent - format.mantissaBits)));
  small = f.of<arith::SubFOp>(small, f.number(std::ldexp(1.0f, format.minExponent)));
  Value bits = f.bits(f.of<arith::AddFOp>(normal, small));
  if (format.nan < format.signBit()) {
    if (format.beyond != format.nan)
      bits = f.where(magnitude, P::eq, format.beyond, kInfinity, bits);
    bits = f.where(magnitude, P::sgt, format.beyond == format.nan ? format.most : format.beyond, kNaN, bits);
  }
  bits = f.of<arith::AddIOp>(bits, f.of<arith::ShLIOp>(sign, 31));
  return f.fromBits(format.isUnsignedZero ? f.where(code, P::eq, format.nan, kNaN, bits) : bits);
}

constexpr int32_t kScaleNaN = 0xff, kScaleMost = 0xfe, kScaleLeast = 0x400000; // 2^-127, which f32 has without its 1

/// To a power of two: the exponent, one greater where the mantissa says so.
Value encodeScale(Body f, StringRef rounding, bool overflows, Value x) {
  int32_t added = rounding == "down" ? 0 : rounding == "nearest" ? 1 << (kMantissa - 1) : (1 << kMantissa) - 1;
  // Below the least normal f32 the mantissa has another place.
  int32_t firstAbove = rounding == "nearest" ? kScaleLeast + kScaleLeast / 2 : kScaleLeast + 1;
  Value magnitude = f.magnitude(x);
  Value code = f.of<arith::ShRSIOp>(added ? f.of<arith::AddIOp>(magnitude, added) : magnitude, kMantissa);
  if (added)
    code = f.where(magnitude, P::slt, firstAbove, 0, code);
  if (overflows)
    code = f.where(magnitude, P::slt, kScaleLeast, kScaleNaN, code);
  else
    code = f.of<arith::MinSIOp>(code, kScaleMost);
  code = f.whereBelowZero(x, kScaleNaN, code);
  return f.where(magnitude, P::sgt, kInfinity, kScaleNaN, code);
}

Value decodeScale(Body f, Value code) {
  Value bits = f.of<arith::MaxSIOp>(f.of<arith::ShLIOp>(code, kMantissa), kScaleLeast);
  return f.fromBits(f.where(code, P::eq, kScaleNaN, kNaN, bits));
}

struct EncodeLowering : OpRewritePattern<top::EncodeFloatOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(top::EncodeFloatOp op, PatternRewriter &rewriter) const override {
    std::optional<SmallFloat> format = top::smallFloatOf(op.getTo());
    auto code = [&](OpBuilder &b, Location loc, ValueRange args) {
      return format ? encode(Body{{b, loc}}, *format, op.getOverflows(), args[0])
                    : encodeScale(Body{{b, loc}}, op.getRound().value_or("up"), op.getOverflows(), args[0]);
    };
    rewriter.replaceOp(op, elementwise(rewriter, op.getLoc(), cast<RankedTensorType>(op.getType()), op.getInput(),
                                       rewriter.getF32Type(), code));
    return success();
  }
};

struct DecodeLowering : OpRewritePattern<top::DecodeFloatOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(top::DecodeFloatOp op, PatternRewriter &rewriter) const override {
    std::optional<SmallFloat> format = top::smallFloatOf(op.getFrom());
    auto value = [&](OpBuilder &b, Location loc, ValueRange args) {
      return format ? decode(Body{{b, loc}}, *format, args[0]) : decodeScale(Body{{b, loc}}, args[0]);
    };
    rewriter.replaceOp(op, elementwise(rewriter, op.getLoc(), cast<RankedTensorType>(op.getType()), op.getCodes(),
                                       rewriter.getI32Type(), value));
    return success();
  }
};

} // namespace

void populateNarrowFloats(RewritePatternSet &patterns) {
  patterns.add<EncodeLowering, DecodeLowering>(patterns.getContext());
}

} // namespace pto_mlir::top_to_linalg
