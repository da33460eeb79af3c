//===- PTODialect.cpp - registration ---------------------------------------------===//

#include "pto_mlir/Dialect/PTO/IR/PTO.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Transforms/InliningUtils.h"
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

namespace {
/// Every op of the dialect may be inlined.
struct PTOInliner : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;
  bool isLegalToInline(Operation *, Operation *, bool) const final { return true; }
  bool isLegalToInline(Region *, Region *, bool, IRMapping &) const final { return true; }
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final { return true; }
};
} // namespace

void PTODialect::initialize() {
  registerTypes();
  registerAttributes();
  registerPTODialectOperations(this);
  addInterfaces<PTOInliner>();
}
