//===- Inliner.cpp - pto ops may be inlined ------------------------------------------------===//

#include "pto_mlir/Dialect/PTO/Program/Passes.h"

#include "mlir/Transforms/InliningUtils.h"

using namespace mlir;

namespace {
struct PTOInliner : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;
  bool isLegalToInline(Operation *, Operation *, bool) const final { return true; }
  bool isLegalToInline(Region *, Region *, bool, IRMapping &) const final { return true; }
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final { return true; }
};
} // namespace

void pto_mlir::pto::registerInliner(DialectRegistry &registry) {
  registry.addExtension(
      +[](MLIRContext *, PTODialect *dialect) { dialect->addInterface(std::make_unique<PTOInliner>(dialect)); });
}
