// Operations that no instruction has: sine and cosine.
#include "Lowering.h"

using namespace mlir;

namespace pto_mlir::pypto_frontend {

/// sin(x) with x = q pi + r: r in four parts of pi, a polynomial of degree 9, and the sign of q. cos(x) has half a turn
/// more: q is an odd half.
Value Lowering::sine(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &var) {
  bool cosine = call.row()->name == "tile.cos";
  Value x = valueOf(call.Operand("x"));
  auto type = cast<pto::TileBufType>(x.getType());
  if (!type.getElementType().isF32())
    fail(op->span_, op->op_->name_ + " computes in FP32; cast its operand");
  auto tileOf = [&](pto::TileBufType of) {
    Value made = scratch(of);
    setValid(made, *ir::As<ir::TileType>(call.Operand("x")->type_));
    return made;
  };
  auto scalar = [&](double value) { return constant(b.getF32FloatAttr(float(value)), b.getF32Type()); };
  auto scale = [&](Value from, double by, Value to) { b.create<pto::TMulSOp>(loc, from, scalar(by), to); };
  auto add = [&](Value from, double by, Value to) { b.create<pto::TAddSOp>(loc, from, scalar(by), to); };
  Value whole = tileOf(type.withElementType(b.getI32Type())), turns = tileOf(type), rest = tileOf(type),
        part = tileOf(type);
  auto rounded = [&](Value from, pto::RoundMode mode, Value to) {
    b.create<pto::TCvtOp>(loc, from, whole, mode);
    b.create<pto::TCvtOp>(loc, whole, to, pto::RoundMode::RINT);
  };
  scale(x, 0.318309886183790671538, part);
  if (cosine)
    add(part, 0.5, part);
  rounded(part, pto::RoundMode::RINT, turns);
  // The sign: 1 - 2 (q mod 2), kept until the end.
  Value sign = tileOf(type);
  scale(turns, 0.5, part);
  rounded(part, pto::RoundMode::FLOOR, sign);
  scale(sign, -2, sign);
  b.create<pto::TAddOp>(loc, turns, sign, sign);
  scale(sign, -2, sign);
  add(sign, 1, sign);
  if (cosine)
    add(turns, -0.5, turns);
  Value from = x;
  for (double piece : {3.140625, 0.0009670257568359375, 6.2771141529083251953e-07, 1.2154201256553420762e-10}) {
    scale(turns, piece, part);
    b.create<pto::TSubOp>(loc, from, part, rest);
    from = rest;
  }
  Value square = turns, dst = destination(*op, var), sum = tileOf(type);
  b.create<pto::TMulOp>(loc, rest, rest, square);
  scale(square, 2.6083159809786593541503e-06, sum);
  for (double factor : {-0.0001981069071916863322258, 0.00833307858556509017944336, -0.166666597127914428710938}) {
    add(sum, factor, sum);
    b.create<pto::TMulOp>(loc, sum, square, sum);
  }
  b.create<pto::TMulOp>(loc, sum, rest, sum);
  b.create<pto::TAddOp>(loc, sum, rest, sum);
  b.create<pto::TMulOp>(loc, sum, sign, dst);
  return dst;
}

} // namespace pto_mlir::pypto_frontend
