// Runs a top module on the host CPU, for comparison with other implementations only.
#ifndef PTO_MLIR_COMPILER_TOPJIT_H
#define PTO_MLIR_COMPILER_TOPJIT_H

#include "pto_mlir/Compiler/Compiler.h"

#include <memory>

namespace pto_mlir {

/// A tensor outside the compiler: row-major, in ONNX's dimension order.
struct HostTensor {
  std::string name;
  std::vector<int64_t> shape;
  std::string type; // numpy's name: "float32"
  std::vector<char> bytes;
};

/// A top module compiled for the CPU: top-layout, convert-top-to-linalg, upstream's lowering to loops, LLVM.
class TopJIT {
public:
  /// Compiles the module in `mlirFile`, with the weights file next to it. With `allTensors` all named tensors are
  /// results, not only the net's outputs. Null on error, with one message per problem in `errors`.
  static std::unique_ptr<TopJIT> load(const std::string &mlirFile, bool allTensors, Errors &errors);

  /// Runs the net once. `inputs` may come in any order and hold more than the net reads; types and shapes must be the
  /// net's. The outputs come first, in the net's order. Nullopt on error.
  std::optional<std::vector<HostTensor>> run(const std::vector<HostTensor> &inputs, Errors &errors) const;

  ~TopJIT();

private:
  struct Impl;
  explicit TopJIT(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl;
};

} // namespace pto_mlir

#endif
