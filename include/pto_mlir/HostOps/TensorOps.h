// Tensor operations on the host, in numpy's semantics: what the engines cannot compute exactly (integers of 64 bits,
// double precision, arithmetic that wraps in 8 or 16 bits).
#ifndef PTO_MLIR_HOSTOPS_TENSOROPS_H
#define PTO_MLIR_HOSTOPS_TENSOROPS_H

#include "pto_mlir/Support/ElementType.h"
#include "pto_mlir/Support/Result.h"

#include <cstddef>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace pto_mlir::hostops {

/// A dense row-major tensor in host memory, owned by the caller. Elements of less than a byte are packed
/// (Support/PackedBits.h).
struct TensorView {
  ElementType type = ElementType::F32;
  std::vector<int64_t> shape;
  const std::byte *data = nullptr;
};

/// The most elements of an output.
inline constexpr uint64_t kMostElements = uint64_t(1) << 26;

using Parameter = std::variant<int64_t, double, std::string, std::vector<int64_t>>;
using Parameters = std::map<std::string, Parameter, std::less<>>;

/// One operation on tensors. Names, operands and parameters are those of the `top` ops of the same mnemonic; beyond
/// them: bitand, bitor, bitxor, bitnot, shl, shr, mod (numpy.mod), fmod (C's), sinh, cosh, expm1, log1p, gelu,
/// gelu_tanh, compress (data, condition; axis), unique, unique_indices, unique_inverse and unique_counts (axis,
/// sorted), nonmaxsuppression (boxes, scores, most boxes, most overlap, score to exceed), det, roialign (images,
/// regions, numbers of images; height, width, scale, half_pixel, max), ngrams (numbers; pool, counts, columns, width,
/// least, most, skips).
struct TensorCall {
  std::string_view name;
  std::span<const TensorView> inputs;
  const Parameters &parameters;
  ElementType resultType; ///< of the output, whose shape follows from inputs and parameters
  /// Returns zeroed memory for the output; null when there is none. Called once, before any element is computed.
  std::function<std::byte *(const std::vector<int64_t> &shape)> allocate;
};

/// Whether tensors of the type have operations.
bool hasTensorType(ElementType type);

/// Whether there is an operation of that name on operands of these element types.
bool hasTensorOp(std::string_view name, std::span<const ElementType> operands);

/// Runs the operation. Integers wrap in their own width and divide toward zero; floats are computed in double and
/// rounded once to nearest even; a float beyond an integer type becomes that type's nearest value, NaN becomes 0 (of 2
/// and 4 bits: the lowest bits stay). Beyond floats of 8 bits see castToFloat8E4M3FN; `overflows` = 1: not saturated,
/// `round` (up, down, nearest) of f8E8M0.
/// Fails on an unknown name or parameter, on shapes or types that do not fit, and on an integer division by 0.
Status runTensorOp(const TensorCall &call);

} // namespace pto_mlir::hostops

#endif // PTO_MLIR_HOSTOPS_TENSOROPS_H
