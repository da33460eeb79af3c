// Bytes of tensor constants as text.
#ifndef PTO_MLIR_LIB_BYTECODE_TENSORTEXT_H
#define PTO_MLIR_LIB_BYTECODE_TENSORTEXT_H

#include "pto_mlir/ByteCode/Module.h"

#include <cstring>
#include <string>
#include <string_view>

namespace pto_mlir::bytecode {

/// `dense [1, 2, 3]` for the integers and f32 / f64 where all values are finite (decimal is exact), else `bytes
/// 00ff..`.
std::string tensorText(const Module &module, const TensorConstant &tensor);

/// One element of a `dense` list, appended as bytes; false when it is no value of the type.
bool appendElement(ElementType type, std::string_view text, std::vector<uint8_t> &data);

} // namespace pto_mlir::bytecode

#endif
