// Kernels that users give for operators of a model.
#ifndef PTO_MLIR_FRONTEND_ONNX_USERKERNELS_H
#define PTO_MLIR_FRONTEND_ONNX_USERKERNELS_H

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

namespace pto_mlir {

/// A tensor of a call: its element type as MLIR writes it ("f32"), and its shape.
struct KernelTensor {
  std::string type;
  std::vector<int64_t> shape;
  bool operator==(const KernelTensor &other) const = default;
};

/// The value of an attribute of a call.
using KernelAttribute =
    std::variant<int64_t, double, std::string, std::vector<int64_t>, std::vector<double>, std::vector<std::string>>;
using KernelAttributes = std::map<std::string, KernelAttribute>;

/// What a processor launches: `top.kernel`'s entries. Pointers are ports of the call: its operands, its results, then
/// the memory between its launches.
struct KernelBody {
  std::string text;              ///< pto functions, one per kind of core
  std::vector<int64_t> pointers; ///< ports
  std::vector<int64_t> offsets;  ///< in bytes
  std::vector<int64_t> scalars;  ///< further arguments
};

/// One launch. Every port but the operands is written by one launch, before those that read it.
struct KernelStep {
  std::map<std::string, KernelBody> bodies; ///< by processor
  std::vector<int64_t> reads, writes;       ///< ports, in order
};

/// The kernel of one call: its launches.
struct UserKernel {
  std::vector<KernelTensor> results, slots;
  std::vector<KernelStep> steps;
};

/// Kernels by operator, each in the place of what the importer has for it.
struct UserKernels {
  std::set<std::string> names; ///< "DOMAIN::OPERATOR"; the default domain is ""
  /// The kernel for a call; nullopt with the reason in `problem`.
  std::function<std::optional<UserKernel>(const std::string &name, const std::vector<KernelTensor> &inputs,
                                          const KernelAttributes &attributes, std::string &problem)>
      find;
};

} // namespace pto_mlir

#endif // PTO_MLIR_FRONTEND_ONNX_USERKERNELS_H
