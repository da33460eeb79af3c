//===- Activations.h - functions of a recurrence's gates --------*- C++ -*-===//

#ifndef PTO_MLIR_LIB_KERNELS_RECURRENT_ACTIVATIONS_H
#define PTO_MLIR_LIB_KERNELS_RECURRENT_ACTIVATIONS_H

#include "mlir/IR/Builders.h"

namespace pto_mlir::recurrent {

/// Arithmetic on the f32 elements of a body (GateFunctions.h).
struct Scalars {
  mlir::OpBuilder &b;
  mlir::Location loc;

  mlir::Value number(double value);
  mlir::Value add(mlir::Value x, mlir::Value y);
  mlir::Value add(mlir::Value x, double y) { return add(x, number(y)); }
  mlir::Value sub(mlir::Value x, mlir::Value y);
  mlir::Value sub(mlir::Value x, double y) { return sub(x, number(y)); }
  mlir::Value mul(mlir::Value x, mlir::Value y);
  mlir::Value mul(mlir::Value x, double y) { return mul(x, number(y)); }
  mlir::Value div(mlir::Value x, mlir::Value y);
  mlir::Value max(mlir::Value x, double y);
  mlir::Value min(mlir::Value x, double y);
  mlir::Value exp(mlir::Value x);
  mlir::Value log(mlir::Value x);
  mlir::Value neg(mlir::Value x);
  mlir::Value abs(mlir::Value x);
  mlir::Value tanh(mlir::Value x);
  mlir::Value sigmoid(mlir::Value x);
  mlir::Value expMinusOne(mlir::Value x);
  mlir::Value logOfOnePlus(mlir::Value x);
  /// x >= bound ? x : 0
  mlir::Value above(mlir::Value x, double bound);
  /// flag > 0 ? x : y
  mlir::Value where(mlir::Value flag, mlir::Value x, mlir::Value y);

  /// One of ONNX's activations by its name; null for another name.
  mlir::Value activation(llvm::StringRef name, mlir::Value x, double alpha, double beta);
};

/// Whether ONNX has an activation of that name.
bool isActivation(llvm::StringRef name);

} // namespace pto_mlir::recurrent

#endif // PTO_MLIR_LIB_KERNELS_RECURRENT_ACTIVATIONS_H
