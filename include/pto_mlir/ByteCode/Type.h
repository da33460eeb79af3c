// Types of VM values: numbers and tensors.
#ifndef PTO_MLIR_BYTECODE_TYPE_H
#define PTO_MLIR_BYTECODE_TYPE_H

#include "pto_mlir/Support/ElementType.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pto_mlir::bytecode {

/// Extent that is known at run time only.
inline constexpr int64_t kDynamic = -1;

/// Where a value lives: on the number stack as integer or float, or on the reference stack.
enum class Kind : uint8_t { Integer, Float, Tensor };

/// i1, i8, .., i64, f32, f64, or a tensor of any element type.
struct Type {
  ElementType element = ElementType::I32;
  bool isTensor = false;
  std::vector<int64_t> shape; // of a tensor; kDynamic where unknown

  bool operator==(const Type &) const = default;
  Kind kind() const;
  /// Bits at which integers wrap.
  unsigned width() const { return element == ElementType::Boolean ? 1 : elementBits(element); }
  bool isStatic() const;
  /// Number of dimensions that are known at run time only.
  unsigned numDynamic() const;
  static Type scalar(ElementType element) { return {element, false, {}}; }
};

/// "i32", "tensor<2x?xf32>".
std::string typeText(const Type &type);
/// The type of that text; nothing when it is none, or a scalar of an element type that the VM does not compute in.
std::optional<Type> parseType(std::string_view text);
/// Whether the VM may hold values of it: scalars of i1 to i64, f32, f64; tensors of at most 8 dimensions and 2^40
/// bytes.
bool isValidType(const Type &type);

/// Element type by the VM's name for it: the file's, but "i1" for boolean.
std::string elementText(ElementType element);
std::optional<ElementType> parseElement(std::string_view text);

/// Whether a tensor of static type `from` may be used where `to` is expected without a check: equal, or `to` knows
/// less.
bool isRefinedBy(const Type &to, const Type &from);

} // namespace pto_mlir::bytecode

#endif
