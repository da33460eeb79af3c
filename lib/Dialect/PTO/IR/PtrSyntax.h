//===- PtrSyntax.h - a pointer type in an op's text -----------------*- C++ -*-===//
#ifndef PTO_MLIR_LIB_DIALECT_PTO_IR_PTRSYNTAX_H
#define PTO_MLIR_LIB_DIALECT_PTO_IR_PTRSYNTAX_H

#include "pto_mlir/Dialect/PTO/IR/PTO.h"

namespace pto_mlir::pto {

/// A pointer type with or without its name; printed with it.
mlir::ParseResult parsePtrType(mlir::OpAsmParser &parser, mlir::Type &type);
void printPtrType(mlir::OpAsmPrinter &printer, mlir::Operation *op, mlir::Type type);

} // namespace pto_mlir::pto

#endif
