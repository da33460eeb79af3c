// The weights section of a module, as views of the weight store.
#include "pto_mlir/Conversion/HostToVM/WeightBlobs.h"
#include "pto_mlir/Dialect/Top/IR/FileTypes.h"
#include "pto_mlir/Dialect/Top/IR/Top.h"

using namespace mlir;

namespace pto_mlir {

std::optional<std::vector<pmodel::WeightDesc>> weightBlobs(ModuleOp module) {
  top::WeightStore &store = module.getContext()->getLoadedDialect<top::TopDialect>()->weights();
  std::vector<pmodel::WeightDesc> blobs;
  auto order = module->getAttrOfType<ArrayAttr>(kWeightOrderAttr);
  if (!order)
    return blobs;
  for (auto name : order.getAsRange<StringAttr>()) {
    const top::Weight *weight = store.lookup(name.getValue());
    if (!weight) {
      module.emitError() << "weight \"" << name.getValue() << "\" is not in the weight store";
      return std::nullopt;
    }
    auto type = fileElementType(weight->type.getElementType());
    if (!type) {
      module.emitError() << "weight \"" << name.getValue()
                         << "\" has an element type that a .pmodel cannot hold: " << weight->type.getElementType();
      return std::nullopt;
    }
    pmodel::WeightDesc blob;
    blob.name = name.str();
    blob.type = *type;
    blob.shape.assign(weight->type.getShape().begin(), weight->type.getShape().end());
    blob.data = weight->bytes.data();
    blob.size = weight->bytes.size();
    blobs.push_back(std::move(blob));
  }
  return blobs;
}

} // namespace pto_mlir
