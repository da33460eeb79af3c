#include "pto_mlir/Dialect/Top/IR/Names.h"

#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace pto_mlir::top {

Location namedLoc(MLIRContext *context, llvm::StringRef name, llvm::StringRef layout) {
  if (name.empty())
    return UnknownLoc::get(context);
  Location loc = NameLoc::get(StringAttr::get(context, name));
  if (layout.empty())
    return loc;
  return FusedLoc::get(context, {loc}, StringAttr::get(context, layout));
}

// The FusedLoc that carries a layout around the name, or null.
static FusedLoc getLayoutLoc(Location loc) {
  auto fused = dyn_cast<FusedLoc>(loc);
  return fused && isa_and_nonnull<StringAttr>(fused.getMetadata()) && fused.getLocations().size() == 1 ? fused
                                                                                                       : FusedLoc();
}

llvm::StringRef getTensorName(Location loc) {
  if (FusedLoc fused = getLayoutLoc(loc))
    loc = fused.getLocations().front();
  auto name = dyn_cast<NameLoc>(loc);
  return name ? name.getName().getValue() : llvm::StringRef();
}

llvm::StringRef getTensorLayout(Location loc) {
  FusedLoc fused = getLayoutLoc(loc);
  return fused ? cast<StringAttr>(fused.getMetadata()).getValue() : llvm::StringRef();
}

llvm::StringRef getTensorName(Value value) {
  if (auto arg = dyn_cast<BlockArgument>(value)) {
    auto func = dyn_cast_or_null<FunctionOpInterface>(arg.getOwner()->getParentOp());
    if (func && arg.getOwner() == &func.getFunctionBody().front()) {
      auto name = func.getArgAttrOfType<StringAttr>(arg.getArgNumber(), kNameAttr);
      return name ? name.getValue() : llvm::StringRef();
    }
  }
  return getTensorName(value.getLoc());
}

llvm::StringRef getTensorLayout(Value value) {
  return isa<BlockArgument>(value) ? llvm::StringRef() : getTensorLayout(value.getLoc());
}

void addShapes(Operation *module, llvm::ArrayRef<std::pair<llvm::StringRef, llvm::ArrayRef<int64_t>>> shapes) {
  if (shapes.empty())
    return;
  NamedAttrList all(module->getAttrOfType<DictionaryAttr>(kShapesAttr));
  for (auto [name, shape] : shapes)
    all.set(name, DenseI64ArrayAttr::get(module->getContext(), shape));
  module->setAttr(kShapesAttr, all.getDictionary(module->getContext()));
}

std::optional<llvm::ArrayRef<int64_t>> getShape(Operation *module, llvm::StringRef name) {
  auto all = module->getAttrOfType<DictionaryAttr>(kShapesAttr);
  auto shape = all ? all.getAs<DenseI64ArrayAttr>(name) : DenseI64ArrayAttr();
  return shape ? std::optional(shape.asArrayRef()) : std::nullopt;
}

void addAbsorbed(Operation *module, llvm::ArrayRef<llvm::StringRef> names) {
  llvm::SetVector<llvm::StringRef> all;
  if (auto old = module->getAttrOfType<ArrayAttr>(kAbsorbedAttr))
    for (auto name : old.getAsValueRange<StringAttr>())
      all.insert(name);
  for (llvm::StringRef name : names)
    if (!name.empty())
      all.insert(name);
  if (!all.empty())
    module->setAttr(kAbsorbedAttr, Builder(module->getContext()).getStrArrayAttr(all.getArrayRef()));
}

} // namespace pto_mlir::top
