// numpy's names of builtin element types.
#ifndef PTO_MLIR_LIB_COMPILER_NUMPYTYPE_H
#define PTO_MLIR_LIB_COMPILER_NUMPYTYPE_H

#include "mlir/IR/BuiltinTypes.h"
#include <optional>
#include <string>

namespace pto_mlir {

/// numpy's name ("float32", "int8", ...); nullopt for a type that numpy lacks.
inline std::optional<std::string> numpyType(mlir::Type type) {
  if (type.isF32())
    return "float32";
  if (type.isF64())
    return "float64";
  if (type.isF16())
    return "float16";
  if (type.isInteger(1))
    return "bool";
  if (auto integer = llvm::dyn_cast<mlir::IntegerType>(type))
    return (integer.isUnsigned() ? "uint" : "int") + std::to_string(integer.getWidth());
  return std::nullopt;
}

} // namespace pto_mlir

#endif
