// Runs a program whose device kernels are computed by a callback on host data; for C++17 callers.
#ifndef PTO_MLIR_BYTECODE_HOSTEDPROGRAM_H
#define PTO_MLIR_BYTECODE_HOSTEDPROGRAM_H

#include "pto_mlir/Support/ElementType.h"
#include "pto_mlir/Support/Result.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace pto_mlir::bytecode {

/// A dense row-major tensor.
struct HostedTensor {
  ElementType element = ElementType::F32;
  std::vector<int64_t> shape;
  std::vector<char> bytes;
};

/// Computes kernel `name` (without the prefix "device."). `results` have the types declared by the program.
using HostedKernel = std::function<Status(const std::string &name, const std::vector<HostedTensor> &operands,
                                          std::vector<HostedTensor> &results)>;

/// A loaded program with its device kernels in a callback.
class HostedProgram {
public:
  /// Deserialises and verifies `code`.
  static Result<std::unique_ptr<HostedProgram>> load(const std::vector<uint8_t> &code, HostedKernel kernel);
  ~HostedProgram();
  /// Runs function 0, whose parameters and results are tensors.
  Result<std::vector<HostedTensor>> run(const std::vector<HostedTensor> &arguments);

private:
  struct State;
  explicit HostedProgram(std::unique_ptr<State> state);
  std::unique_ptr<State> state;
};

} // namespace pto_mlir::bytecode

#endif
