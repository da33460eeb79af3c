// Functions of one tensor that are accurate where their definition would lose all digits (docs/accuracy.md).
#ifndef PTO_MLIR_LIB_FRONTEND_ONNX_MATH_FUNCTIONS_H
#define PTO_MLIR_LIB_FRONTEND_ONNX_MATH_FUNCTIONS_H

#include "../Composite.h"
#include "pto_mlir/Dialect/Top/IR/GateFunctions.h"

namespace pto_mlir::onnx {

/// c0 + c1 x + c2 x^2 + .., by Horner's rule.
inline mlir::Value polynomial(Formula &f, mlir::Value x, llvm::ArrayRef<double> coefficients) {
  mlir::Value sum = f.of<top::MulOp>(x, coefficients.back());
  for (double c : llvm::reverse(coefficients.drop_front().drop_back()))
    sum = f.of<top::MulOp>(f.of<top::AddOp>(sum, c), x);
  return f.of<top::AddOp>(sum, coefficients.front());
}

/// What the functions of gates are made of, as ops on tensors; in f64 the host has the accurate ones as such.
struct TensorArithmetic {
  Formula &f;

  template <typename T> mlir::Value add(mlir::Value x, T y) { return f.of<top::AddOp>(x, y); }
  template <typename T> mlir::Value sub(mlir::Value x, T y) { return f.of<top::SubOp>(x, y); }
  template <typename T> mlir::Value mul(mlir::Value x, T y) { return f.of<top::MulOp>(x, y); }
  mlir::Value div(mlir::Value x, mlir::Value y) { return f.of<top::DivOp>(x, y); }
  mlir::Value max(mlir::Value x, double y) { return y == 0 ? f.of<top::ReluOp>(x) : f.of<top::MaxOp>(x, y); }
  mlir::Value min(mlir::Value x, double y) { return f.of<top::MinOp>(x, y); }
  mlir::Value exp(mlir::Value x) { return f.of<top::ExpOp>(x); }
  mlir::Value log(mlir::Value x) { return f.of<top::LogOp>(x); }
  mlir::Value neg(mlir::Value x) { return f.of<top::NegOp>(x); }
  mlir::Value abs(mlir::Value x) { return f.of<top::AbsOp>(x); }
  mlir::Value tanh(mlir::Value x) { return f.of<top::TanhOp>(x); }
  mlir::Value sigmoid(mlir::Value x) { return f.of<top::SigmoidOp>(x); }
  /// x >= bound ? x : 0
  mlir::Value above(mlir::Value x, double bound) { return f.where(f.compare(x, "ge", bound), x, f.constant(x, 0)); }
  mlir::Value expMinusOne(mlir::Value x) {
    return f.isDouble(x) ? f.onHost(x, "expm1") : top::gates::expMinusOne(*this, x);
  }
  mlir::Value logOfOnePlus(mlir::Value x) {
    return f.isDouble(x) ? f.onHost(x, "log1p") : top::gates::logOfOnePlus(*this, x);
  }
};

/// ln(1 + exp(x)) = max(x, 0) + ln(1 + exp(-|x|)), which does not overflow.
inline std::pair<mlir::Value, mlir::Value> softplusParts(Formula &f, mlir::Value x) {
  mlir::Value decay = f.of<top::ExpOp>(f.of<top::NegOp>(f.of<top::AbsOp>(x)));
  return {f.of<top::ReluOp>(x), TensorArithmetic{f}.logOfOnePlus(decay)};
}

} // namespace pto_mlir::onnx

#endif // PTO_MLIR_LIB_FRONTEND_ONNX_MATH_FUNCTIONS_H
