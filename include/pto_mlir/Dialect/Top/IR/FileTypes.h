// Element types of `.pmodel` files and of the host's tensor operations.
#ifndef PTO_MLIR_DIALECT_TOP_IR_FILETYPES_H
#define PTO_MLIR_DIALECT_TOP_IR_FILETYPES_H

#include "mlir/IR/Types.h"
#include "pto_mlir/Support/ElementType.h"
#include <optional>

namespace pto_mlir {

/// The .pmodel element type of a builtin element type; nullopt when there is none.
std::optional<ElementType> fileElementType(mlir::Type type);

} // namespace pto_mlir

#endif // PTO_MLIR_DIALECT_TOP_IR_FILETYPES_H
