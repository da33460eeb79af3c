// Numbers that are known when a net runs: sums of products of its symbols (docs/sizes.md).
#ifndef PTO_MLIR_BYTECODE_SIZE_H
#define PTO_MLIR_BYTECODE_SIZE_H

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace pto_mlir::bytecode {

/// `coefficient` times the product of the symbols, each an index into the symbols of the net; no symbols: a constant.
struct SizeTerm {
  int64_t coefficient = 0;
  std::vector<uint32_t> symbols;
  bool operator==(const SizeTerm &) const = default;
};

/// A sum of terms; none: 0.
struct Size {
  std::vector<SizeTerm> terms;
  bool operator==(const Size &) const = default;
  bool isConstant() const;
};

/// The size for these values of the symbols. Nullopt when a symbol has no value or the number exceeds 64 bits.
std::optional<int64_t> evaluate(const Size &size, std::span<const int64_t> symbols);
/// "12*batch*tokens + 1"; a symbol without a name is "s<index>".
std::string sizeText(const Size &size, std::span<const std::string> names);

/// " scalars(batch, 2*tokens)"; a size without terms is "empty".
std::string sizesText(std::span<const Size> sizes, std::span<const std::string> names);

} // namespace pto_mlir::bytecode

#endif
