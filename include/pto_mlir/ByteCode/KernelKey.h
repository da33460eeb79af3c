// The key of a kernel called by a program, and its mangled name.
#ifndef PTO_MLIR_BYTECODE_KERNELKEY_H
#define PTO_MLIR_BYTECODE_KERNELKEY_H

#include "pto_mlir/ByteCode/Type.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace pto_mlir::bytecode {

using Number = std::variant<int64_t, double>;
/// An attribute of a call: a number, a text, or a list of numbers.
using AttributeValue = std::variant<int64_t, double, std::string, std::vector<Number>>;

/// Identifies a kernel by operation, types and attributes: @device.conv2d on these types with these attributes.
struct KernelKey {
  std::string callee; // "device.add": the place, a dot, the operation (which may have dots)
  std::vector<Type> operands, results;
  std::vector<std::pair<std::string, AttributeValue>> attributes; // by name, ascending

  bool operator==(const KernelKey &) const = default;
  /// The executor: "device", "host" or "python".
  std::string_view place() const { return std::string_view(callee).substr(0, callee.find('.')); }
  /// The operation: the part of `callee` after the first dot.
  std::string_view op() const { return std::string_view(callee).substr(callee.find('.') + 1); }
};

/// `device_add_sig_ii_i_ins_i32_i32_outs_i32`: tokens joined by '_': the callee, one letter per operand and per result
/// (i, f, t), the types (`16x768xf32`), then name and value of each attribute. Injective; `demangle` is the inverse.
/// Escapes: '_' inside a token is '__'; any other character that is not a letter or digit, and 'Z', is Z and two hex
/// digits.
std::string mangle(const KernelKey &key);
/// The key of a mangled name; nullopt when malformed. demangle(mangle(k)) == k.
std::optional<KernelKey> demangle(std::string_view name);

/// What a submitted kernel does with a tensor; None: it is not followed.
enum class Direction : uint8_t { In, Out, InOut, None };
/// The attribute of keys that are submitted: a word of in, out, inout, none for each tensor, with commas between.
inline constexpr std::string_view kDirections = "directions";
/// The directions of the key's tensors; nullopt where they are missing, or not one for each tensor.
std::optional<std::vector<Direction>> directionsOf(const KernelKey &key);
/// The attribute of keys that are submitted to one of several devices: the last operand is its number.
inline constexpr std::string_view kRanked = "ranked";
bool isRanked(const KernelKey &key);

/// Whether `callee` is "device.", "host." or "python." and an operation in printable characters, the types are valid
/// and the attributes ascending.
bool isValidKey(const KernelKey &key);

} // namespace pto_mlir::bytecode

#endif
