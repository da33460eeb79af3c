// Tensor operations on the host, in numpy's semantics: what the engines cannot compute exactly (integers of 64 bits,
// double precision, arithmetic that wraps in 8 or 16 bits).
#ifndef PTO_MLIR_HOSTOPS_TENSOROPS_H
#define PTO_MLIR_HOSTOPS_TENSOROPS_H

#include "pto_mlir/HostOps/Strings.h"
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

/// What random numbers follow from, beside the parameters of the operation.
struct Draw {
  uint64_t entropy = 0; ///< of the session, where the operation has no seed
  uint64_t call = 0;    ///< how often this operation was called before
};

/// One operation on tensors. Names, operands and parameters are those of the `top` ops of the same mnemonic; beyond
/// them: bitand, bitor, bitxor, bitnot, shl, shr, mod (numpy.mod), fmod (C's), sinh, cosh, expm1, log1p, gelu,
/// gelu_tanh, compress (data, condition; axis), split_part (data, sizes; axis, part), unique, unique_indices,
/// unique_inverse and unique_counts (axis, sorted), nonmaxsuppression (boxes, scores, most boxes, most overlap, score
/// to exceed), det, roialign (images, regions, numbers of images; height, width, scale, half_pixel, max, samples),
/// ngrams (numbers; pool, counts, columns, width, least, most, skips). By ONNX's operators of these names, for sizes
/// that a run decides: shape (start, end), unsqueeze and squeeze (axes; rest), flatten (axis), reshape (data, shape;
/// allowzero), expand (data, shape), slice (data, starts, ends; axes, steps), tile (data, repeats), pad (data, pads,
/// element; axes, mode), resize (data, scales or sizes, region; sizes, axes, policy and those of top.resize), gather_nd
/// (batch_dims), scatter_elements (axis, reduction), scatter_nd (reduction), range (start, limit, delta),
/// topk_values and topk_indices of (data, k), argmax and argmin (axis, keepdims, last). Of strings: strings (bytes of
/// all, their lengths; shape), string_concat (two), string_normalize (strings, stop words; case: none, lower, upper,
/// case_sensitive), string_split and string_split_counts (strings, one delimiter, empty for white space; maxsplit),
/// string_lookup (strings, keys: their numbers, `otherwise` for others), regex_full_match (strings, one pattern). Of
/// random numbers (node: a number of its own; has_seed, seed): random_uniform and random_normal (any tensor, which is
/// not read; shape, low and high or mean and scale), random_bernoulli (probabilities), random_multinomial (logarithms
/// [B, C]; size).
struct TensorCall {
  std::string_view name;
  std::span<const TensorView> inputs;
  const Parameters &parameters;
  ElementType resultType; ///< of the output, whose shape follows from inputs and parameters
  /// Returns zeroed memory for the output; null when there is none. Called once, before any element is computed.
  std::function<std::byte *(const std::vector<int64_t> &shape)> allocate;
  /// The strings of the run; without, operations that read or make them fail.
  StringTable *strings = nullptr;
  /// Without, operations that draw random numbers fail.
  const Draw *draw = nullptr;
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
