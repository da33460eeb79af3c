//===- ElementTypes.h - element types in the words of the instruction table -*- C++ -*-===//
//
// Apart from PTO.h, because the table's namespace hides llvm::isa where its headers are included.
//
//===----------------------------------------------------------------------===//
#ifndef PTO_MLIR_DIALECT_PTO_IR_ELEMENTTYPES_H
#define PTO_MLIR_DIALECT_PTO_IR_ELEMENTTYPES_H

#include "pto_mlir/ISA/Operands.h"

#include "mlir/IR/Types.h"

#include <optional>

namespace pto_mlir::pto {

/// The table's element type; nothing for a type that no tile can hold.
std::optional<isa::ElementType> elementType(mlir::Type type);
/// The dialect's name of an element type of the table: ui8, f16.
llvm::StringRef elementTypeName(isa::ElementType type);

} // namespace pto_mlir::pto

#endif
