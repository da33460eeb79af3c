//===- GateFunctions.h - activations of recurrent layers --------*- C++ -*-===//
//
// The functions that ONNX lists for the gates of LSTM, GRU and RNN, once for ops
// on tensors and for the body of a kernel: formulas over an Arithmetic, which has
// add, sub, mul, div (by a value or a number), max and min with a number, exp,
// log, neg, abs, tanh, sigmoid, above, and the two accurate functions below,
// where it may have better ones.
//
//===----------------------------------------------------------------------===//

#ifndef PTO_MLIR_DIALECT_TOP_IR_GATEFUNCTIONS_H
#define PTO_MLIR_DIALECT_TOP_IR_GATEFUNCTIONS_H

#include "mlir/IR/Value.h"

#include <optional>

namespace pto_mlir::top::gates {

/// exp(x) - 1 for x <= 0. With u = exp(x), rounded: (u - 1) + u (x - ln u). What rounding changed in u comes back by
/// its logarithm, to first order (after Kahan; N. Higham, Accuracy and Stability of Numerical Algorithms, 1.14.1).
/// Below -80, -1 is all that is left.
template <class Arithmetic> mlir::Value expMinusOne(Arithmetic &a, mlir::Value x) {
  mlir::Value bounded = a.max(x, -80), u = a.exp(bounded);
  mlir::Value lost = a.sub(bounded, a.log(u));
  return a.add(a.sub(u, 1), a.mul(u, lost));
}

/// ln(1 + e) for e from 0 to 1. With u = 1 + e, rounded: ln u + (e - (u - 1)) / u, where the bracket is what rounding
/// took from u (the same source).
template <class Arithmetic> mlir::Value logOfOnePlus(Arithmetic &a, mlir::Value e) {
  mlir::Value u = a.add(e, 1), lost = a.sub(e, a.sub(u, 1));
  return a.add(a.log(u), a.div(lost, u));
}

template <class Arithmetic> mlir::Value affine(Arithmetic &a, mlir::Value x, double alpha, double beta) {
  return a.add(a.mul(x, alpha), beta);
}

template <class Arithmetic> mlir::Value relu(Arithmetic &a, mlir::Value x, double, double) { return a.max(x, 0); }

template <class Arithmetic> mlir::Value leakyRelu(Arithmetic &a, mlir::Value x, double alpha, double) {
  return a.add(a.max(x, 0), a.mul(a.min(x, 0), alpha));
}

template <class Arithmetic> mlir::Value elu(Arithmetic &a, mlir::Value x, double alpha, double) {
  return a.add(a.max(x, 0), a.mul(a.expMinusOne(a.min(x, 0)), alpha));
}

template <class Arithmetic> mlir::Value scaledTanh(Arithmetic &a, mlir::Value x, double alpha, double beta) {
  return a.mul(a.tanh(a.mul(x, beta)), alpha);
}

template <class Arithmetic> mlir::Value hardSigmoid(Arithmetic &a, mlir::Value x, double alpha, double beta) {
  return a.max(a.min(affine(a, x, alpha, beta), 1), 0);
}

template <class Arithmetic> mlir::Value softsign(Arithmetic &a, mlir::Value x, double, double) {
  return a.div(x, a.add(a.abs(x), 1));
}

/// ln(1 + exp(x)) = max(x, 0) + ln(1 + exp(-|x|)), which does not overflow.
template <class Arithmetic> mlir::Value softplus(Arithmetic &a, mlir::Value x, double, double) {
  return a.add(a.max(x, 0), a.logOfOnePlus(a.exp(a.neg(a.abs(x)))));
}

/// A function by its name, and how many scaling values it takes with their defaults.
template <class Arithmetic> struct Function {
  llvm::StringRef name;
  mlir::Value (*build)(Arithmetic &, mlir::Value x, double alpha, double beta);
  std::optional<double> alpha, beta;
};

template <class Arithmetic> llvm::ArrayRef<Function<Arithmetic>> functions() {
  using A = Arithmetic;
  static const Function<A> all[] = {
      {"Sigmoid", [](A &a, mlir::Value x, double, double) { return a.sigmoid(x); }, {}, {}},
      {"Tanh", [](A &a, mlir::Value x, double, double) { return a.tanh(x); }, {}, {}},
      {"Relu", relu<A>, {}, {}},
      {"Affine", affine<A>, 1, 0},
      {"Elu", elu<A>, 1, {}},
      {"LeakyRelu", leakyRelu<A>, 0.01, {}},
      {"ThresholdedRelu", [](A &a, mlir::Value x, double alpha, double) { return a.above(x, alpha); }, 1, {}},
      {"ScaledTanh", scaledTanh<A>, 1, 1},
      {"HardSigmoid", hardSigmoid<A>, 0.2, 0.5},
      {"Softsign", softsign<A>, {}, {}},
      {"Softplus", softplus<A>, {}, {}},
  };
  return all;
}

} // namespace pto_mlir::top::gates

#endif // PTO_MLIR_DIALECT_TOP_IR_GATEFUNCTIONS_H
