//===- Types.h - Types and attributes of pto in the ISA's words -----------===//

#ifndef PTO_MLIR_LIB_BACKEND_CODEGEN_TYPES_H
#define PTO_MLIR_LIB_BACKEND_CODEGEN_TYPES_H

#include "pto_mlir/Dialect/PTO/IR/ElementTypes.h"
#include "pto_mlir/Dialect/PTO/IR/PTO.h"
#include "pto_mlir/ISA/Operands.h"

#include <optional>

namespace pto_mlir::backend {

using pto::elementType;
/// Nothing for a space that no instruction addresses.
std::optional<isa::Memory> memory(pto::AddressSpace space);

/// The fixpipe reads one word of 64 bits per column, from the tile's first byte on; `scales` becomes that for the
/// columns of `columns`, whatever the text calls its elements.
void asDescriptors(isa::Tile &scales, const isa::Tile &columns);

/// Value of a constant: an integer, or the bit pattern of f32.
std::optional<int64_t> constantOf(mlir::Value value);
/// Certainly >= 0, seen from how the value is made.
bool isNonNegative(mlir::Value value);
/// Largest value that an integer can take, as far as its making shows.
std::optional<int64_t> upperBound(mlir::Value value);

} // namespace pto_mlir::backend

#endif
