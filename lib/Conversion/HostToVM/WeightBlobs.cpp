// The weights section of a module, as views of the weight store.
#include "pto_mlir/Conversion/HostToVM/WeightBlobs.h"
#include "pto_mlir/Dialect/Top/IR/Top.h"

using namespace mlir;

namespace pto_mlir {

std::optional<ElementType> fileElementType(Type type) {
  if (type.isF32())
    return ElementType::F32;
  if (type.isF16())
    return ElementType::F16;
  if (type.isBF16())
    return ElementType::BF16;
  if (type.isF64())
    return ElementType::F64;
  if (isa<Float8E4M3FNType>(type))
    return ElementType::F8E4M3FN;
  if (isa<Float8E5M2Type>(type))
    return ElementType::F8E5M2;
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer)
    return std::nullopt;
  bool isUnsigned = integer.isUnsigned();
  switch (integer.getWidth()) {
  case 1:
    return ElementType::Boolean;
  case 4:
    return isUnsigned ? std::nullopt : std::optional(ElementType::I4);
  case 8:
    return isUnsigned ? ElementType::U8 : ElementType::I8;
  case 16:
    return isUnsigned ? ElementType::U16 : ElementType::I16;
  case 32:
    return isUnsigned ? ElementType::U32 : ElementType::I32;
  case 64:
    return isUnsigned ? ElementType::U64 : ElementType::I64;
  default:
    return std::nullopt;
  }
}

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
