// Functions of one tensor that are accurate where their definition would lose all digits (docs/accuracy.md).
#ifndef PTO_MLIR_LIB_FRONTEND_ONNX_MATH_FUNCTIONS_H
#define PTO_MLIR_LIB_FRONTEND_ONNX_MATH_FUNCTIONS_H

#include "../Composite.h"

namespace pto_mlir::onnx {

/// c0 + c1 x + c2 x^2 + .., by Horner's rule.
inline mlir::Value polynomial(Formula &f, mlir::Value x, llvm::ArrayRef<double> coefficients) {
  mlir::Value sum = f.of<top::MulOp>(x, coefficients.back());
  for (double c : llvm::reverse(coefficients.drop_front().drop_back()))
    sum = f.of<top::MulOp>(f.of<top::AddOp>(sum, c), x);
  return f.of<top::AddOp>(sum, coefficients.front());
}

/// exp(x) - 1 for x <= 0. With u = exp(x), rounded: (u - 1) + u (x - ln u). What rounding changed in u comes back by
/// its logarithm, to first order (after Kahan; N. Higham, Accuracy and Stability of Numerical Algorithms, 1.14.1).
/// Below -80, -1 is all that is left.
inline mlir::Value expMinusOne(Formula &f, mlir::Value x) {
  if (f.isDouble(x))
    return f.onHost(x, "expm1");
  mlir::Value bounded = f.of<top::MaxOp>(x, -80.0), u = f.of<top::ExpOp>(bounded);
  mlir::Value lost = f.of<top::SubOp>(bounded, f.of<top::LogOp>(u));
  return f.of<top::AddOp>(f.of<top::SubOp>(u, 1.0), f.of<top::MulOp>(u, lost));
}

/// ln(1 + e) for e from 0 to 1. With u = 1 + e, rounded: ln u + (e - (u - 1)) / u, where the bracket is what rounding
/// took from u (the same source).
inline mlir::Value logOfOnePlus(Formula &f, mlir::Value e) {
  if (f.isDouble(e))
    return f.onHost(e, "log1p");
  mlir::Value u = f.of<top::AddOp>(e, 1.0), lost = f.of<top::SubOp>(e, f.of<top::SubOp>(u, 1.0));
  return f.of<top::AddOp>(f.of<top::LogOp>(u), f.of<top::DivOp>(lost, u));
}

/// ln(1 + exp(x)) = max(x, 0) + ln(1 + exp(-|x|)), which does not overflow.
inline std::pair<mlir::Value, mlir::Value> softplusParts(Formula &f, mlir::Value x) {
  mlir::Value decay = f.of<top::ExpOp>(f.of<top::NegOp>(f.of<top::AbsOp>(x)));
  return {f.of<top::ReluOp>(x), logOfOnePlus(f, decay)};
}

} // namespace pto_mlir::onnx

#endif // PTO_MLIR_LIB_FRONTEND_ONNX_MATH_FUNCTIONS_H
