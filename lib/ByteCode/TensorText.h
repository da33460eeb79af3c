// Tensor constants as text.
#ifndef PTO_MLIR_LIB_BYTECODE_TENSORTEXT_H
#define PTO_MLIR_LIB_BYTECODE_TENSORTEXT_H

#include "pto_mlir/ByteCode/Module.h"

#include <cstring>
#include <string>
#include <string_view>

namespace pto_mlir::bytecode {

/// `dense [1, 2, 3]` for integers, and for f32 and f64 if all values are finite (decimals round-trip); else `bytes
/// 00ff..`.
std::string tensorText(const Module &module, const TensorConstant &tensor);

/// Appends one element of a `dense` list to `data`; false when it is not a value of the type.
bool appendElement(ElementType type, std::string_view text, std::vector<uint8_t> &data);

} // namespace pto_mlir::bytecode

#endif
