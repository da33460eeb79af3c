// top.launch: verifies that the attribute lists have one entry per result (`places`: per operand).
#include "pto_mlir/Dialect/Top/IR/Top.h"

using namespace mlir;
using namespace pto_mlir::top;

LogicalResult LaunchOp::verify() {
  auto check = [&](StringRef what, std::optional<ArrayAttr> list, size_t count, StringRef per) -> LogicalResult {
    if (list && list->size() != count)
      return emitOpError() << "expects one of " << what << " per " << per << " (" << count << "), got " << list->size();
    return success();
  };
  if (failed(check("names", getNames(), getNumResults(), "result")) ||
      failed(check("layouts", getLayouts(), getNumResults(), "result")) ||
      failed(check("places", getPlaces(), getNumOperands(), "operand")))
    return failure();
  return success();
}
