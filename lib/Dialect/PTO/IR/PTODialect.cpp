//===- PTODialect.cpp - registration ---------------------------------------------===//

#include "pto_mlir/Dialect/PTO/IR/PTO.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace pto_mlir::pto;

#include "pto_mlir/Dialect/PTO/IR/PTODialect.cpp.inc"
#include "pto_mlir/Dialect/PTO/IR/PTOEnums.cpp.inc"
#include "pto_mlir/Dialect/PTO/IR/PTOInterfaces.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "pto_mlir/Dialect/PTO/IR/PTOAttrs.cpp.inc"

void PTODialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "pto_mlir/Dialect/PTO/IR/PTOAttrs.cpp.inc"
      >();
}

void PTODialect::initialize() {
  registerTypes();
  registerAttributes();
  registerPTODialectOperations(this);
}
