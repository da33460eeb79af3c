// Types of VM values: numbers, tensors and tasks.
#ifndef PTO_MLIR_BYTECODE_TYPE_H
#define PTO_MLIR_BYTECODE_TYPE_H

#include "pto_mlir/Support/ElementType.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pto_mlir::bytecode {

/// A dynamic extent.
inline constexpr int64_t kDynamic = -1;

/// The kind of a value: an integer, float or task on the number stack, or a tensor on the reference stack.
enum class Kind : uint8_t { Integer, Float, Tensor, Task };

/// i1, i8, .., i64, f32, f64, a tensor of any element type, or a task.
struct Type {
  ElementType element = ElementType::I32;
  bool isTensor = false;
  std::vector<int64_t> shape; // of a tensor; kDynamic where unknown
  bool isTask = false;        // a task that was submitted; `element` is I64

  bool operator==(const Type &) const = default;
  Kind kind() const;
  /// Width in bits; integers wrap modulo 2^width.
  unsigned width() const { return element == ElementType::Boolean ? 1 : elementBits(element); }
  bool isStatic() const;
  /// Number of dynamic dimensions.
  unsigned numDynamic() const;
  static Type scalar(ElementType element) { return {element, false, {}}; }
  static Type task() { return {ElementType::I64, false, {}, true}; }
};

/// "i32", "tensor<2x?xf32>", "task".
std::string typeText(const Type &type);
/// Parses a type; nullopt when malformed, or a scalar of an element type without VM arithmetic.
std::optional<Type> parseType(std::string_view text);
/// Whether values of the type are supported: scalars of i1 to i64, f32, f64; tensors of at most 8 dimensions and 2^40
/// bytes.
bool isValidType(const Type &type);

/// The VM's name of an element type: elementTypeName, but "i1" for boolean.
std::string elementText(ElementType element);
/// The element type with that VM name; nullopt when there is none.
std::optional<ElementType> parseElement(std::string_view text);

/// Whether a tensor of type `from` may be used as `to` without a run-time check: the types are equal, or `to` has
/// dynamic extents where they differ.
bool isRefinedBy(const Type &to, const Type &from);

} // namespace pto_mlir::bytecode

#endif
