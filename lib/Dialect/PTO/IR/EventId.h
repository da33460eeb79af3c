//===- EventId.h - the id of a semaphore between cores in text ----------*- C++ -*-===//
#ifndef PTO_MLIR_LIB_DIALECT_PTO_IR_EVENTID_H
#define PTO_MLIR_LIB_DIALECT_PTO_IR_EVENTID_H

#include "mlir/IR/OpImplementation.h"

namespace pto_mlir::pto {

/// A literal or a value of type index.
mlir::ParseResult parseEventId(mlir::OpAsmParser &parser, mlir::IntegerAttr &id,
                               std::optional<mlir::OpAsmParser::UnresolvedOperand> &dynamic);
void printEventId(mlir::OpAsmPrinter &printer, mlir::Operation *op, mlir::IntegerAttr id, mlir::Value dynamic);

} // namespace pto_mlir::pto

#endif
