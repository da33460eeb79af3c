// Registration of the top dialect.
#include "pto_mlir/Dialect/Top/IR/Top.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace pto_mlir::top;

#include "pto_mlir/Dialect/Top/IR/TopDialect.cpp.inc"

#include "pto_mlir/Dialect/Top/IR/TopEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "pto_mlir/Dialect/Top/IR/TopAttrs.cpp.inc"

void TopDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "pto_mlir/Dialect/Top/IR/TopAttrs.cpp.inc"
      >();
}

void TopDialect::initialize() {
  registerAttributes();
  registerTypes();
  registerTopDialectOperations(this);
}
