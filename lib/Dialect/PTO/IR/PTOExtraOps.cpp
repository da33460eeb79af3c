//===- PTOExtraOps.cpp - the generated definitions of the extra ops --------------------===//

#include "pto_mlir/Dialect/PTO/IR/PTOExtra.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
using namespace pto_mlir::pto;

/// A pointer type with or without its name; printed with it.
static ParseResult parsePtrType(OpAsmParser &parser, Type &type) {
  PtrType pointer;
  if (parser.parseCustomTypeWithFallback(pointer))
    return failure();
  type = pointer;
  return success();
}
static void printPtrType(OpAsmPrinter &printer, Operation *, Type type) { printer << type; }

#define GET_OP_CLASSES
#include "pto_mlir/Dialect/PTO/IR/PTOExtraOps.cpp.inc"

void PTODialect::addExtraOps() {
  addOperations<
#define GET_OP_LIST
#include "pto_mlir/Dialect/PTO/IR/PTOExtraOps.cpp.inc"
      >();
}

void pto_mlir::pto::registerExtraOps(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *, PTODialect *dialect) { dialect->addExtraOps(); });
}
