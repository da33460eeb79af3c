// What identifies a kernel that a program calls, and its readable name.
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

/// A kernel by what it computes: @device.conv2d on these types with these attributes.
struct KernelKey {
  std::string callee; // "device.add": the place, a dot, the operation (which may have dots)
  std::vector<Type> operands, results;
  std::vector<std::pair<std::string, AttributeValue>> attributes; // by name, ascending

  bool operator==(const KernelKey &) const = default;
  /// "device", "host", "python": who runs it.
  std::string_view place() const { return std::string_view(callee).substr(0, callee.find('.')); }
  /// What is behind the first dot.
  std::string_view op() const { return std::string_view(callee).substr(callee.find('.') + 1); }
};

/// `device_add_sig_ii_i_ins_i32_i32_outs_i32`: tokens joined by '_': the callee, one letter per operand and per result
/// (i, f, t), the types (`16x768xf32`), then name and value of each attribute. Two keys never share a name, and
/// `demangle` undoes it: '_' inside a token is '__', any other character that is not a letter or digit (and 'Z') is Z
/// and two hex digits.
std::string mangle(const KernelKey &key);
/// The key of a mangled name; nothing when it is none. demangle(mangle(k)) == k.
std::optional<KernelKey> demangle(std::string_view name);

/// "device.", "host." or "python." and an operation, printable characters, valid types, attributes ascending.
bool isValidKey(const KernelKey &key);

} // namespace pto_mlir::bytecode

#endif
