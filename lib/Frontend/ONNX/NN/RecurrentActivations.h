// The activations that a recurrent node names, with their scaling values and the bound on their inputs.
#ifndef PTO_MLIR_LIB_FRONTEND_ONNX_NN_RECURRENTACTIVATIONS_H
#define PTO_MLIR_LIB_FRONTEND_ONNX_NN_RECURRENTACTIVATIONS_H

#include "../Math/Functions.h"

namespace pto_mlir::onnx {

/// One function of those that ONNX lists for LSTM, GRU and RNN.
struct Activation {
  llvm::StringRef name; ///< as ONNX spells it
  mlir::Value (*build)(TensorArithmetic &, mlir::Value, double alpha, double beta);
  double alpha, beta;
  std::optional<double> clip; ///< of a gate

  mlir::Value of(Formula &f, mlir::Value x) const {
    TensorArithmetic arithmetic{f};
    return x ? build(arithmetic, x, alpha, beta) : x;
  }
  mlir::Value ofGate(Formula &f, mlir::Value x) const;
  bool operator==(const Activation &other) const {
    return name == other.name && alpha == other.alpha && beta == other.beta;
  }
};

/// Reads 'activations', 'activation_alpha', 'activation_beta' and 'clip'; `functions` are those of one direction where
/// the node names none. Nullopt after an error.
std::optional<std::vector<Activation>> readActivations(Node &node, int64_t directions,
                                                       llvm::ArrayRef<llvm::StringRef> functions);

} // namespace pto_mlir::onnx

#endif // PTO_MLIR_LIB_FRONTEND_ONNX_NN_RECURRENTACTIVATIONS_H
