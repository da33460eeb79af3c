// Types as annotations.
#include "Printer.h"

namespace pypto::ir {

std::string Printer::memref(const MemRef &memref) {
  std::string text = pl + "MemRef(" + enumeration(memref.memory_space_) + ", " +
                     (memref.addr_ ? expr(memref.addr_) : "None") + ", " + std::to_string(memref.size_) + ", " +
                     std::to_string(memref.id_);
  if (!memref.name_.empty())
    text += ", name=" + attr(memref.name_);
  if (memref.slots_ != 1)
    text += ", slots=" + std::to_string(memref.slots_);
  return text + ")" + (memref.slot_ ? "[" + expr(memref.slot_) + "]" : "");
}

std::string Printer::extents(const std::vector<ExprPtr> &extents) {
  std::string text;
  for (const ExprPtr &extent : extents) {
    saysTypes = !ConstantInt(extent);
    appendItem(text, expr(extent));
  }
  saysTypes = false;
  return "[" + text + "]";
}

std::string Printer::view(const TileView &view) {
  std::string text;
  if (!view.valid_shape.empty())
    appendItem(text, "valid_shape=" + extents(view.valid_shape));
  if (!view.stride.empty())
    appendItem(text, "stride=" + list(view.stride));
  if (view.start_offset)
    appendItem(text, "start_offset=" + expr(view.start_offset));
  appendItem(text, "blayout=" + enumeration(view.blayout) + ", slayout=" + enumeration(view.slayout) +
                       ", fractal=" + std::to_string(view.fractal));
  if (view.pad != PadValue::null)
    appendItem(text, "pad=" + enumeration(view.pad));
  if (view.compact != CompactMode::null)
    appendItem(text, "compact=" + enumeration(view.compact));
  return pl + "TileView(" + text + ")";
}

std::string Printer::view(const TensorView &view) {
  std::string text;
  if (!view.stride.empty())
    appendItem(text, "stride=" + list(view.stride));
  appendItem(text, "layout=" + enumeration(view.layout));
  if (!view.valid_shape.empty())
    appendItem(text, "valid_shape=" + extents(view.valid_shape));
  if (view.pad != PadValue::null)
    appendItem(text, "pad=" + enumeration(view.pad));
  return pl + "TensorView(" + text + ")";
}

std::string Printer::type(const TypePtr &node) {
  if (auto scalar = As<ScalarType>(node))
    return pl + "Scalar[" + dtype(scalar->dtype_) + "]";
  if (auto tensor = As<TensorType>(node)) {
    std::string text = list(tensor->shape_) + ", " + dtype(tensor->dtype_);
    if (tensor->tensor_view_)
      appendItem(text, view(*tensor->tensor_view_));
    if (tensor->memref_)
      appendItem(text, memref(**tensor->memref_));
    return pl + (IsA<DistributedTensorType>(node) ? "DistributedTensor[" : "Tensor[") + text + "]";
  }
  if (auto tile = As<TileType>(node)) {
    std::string text = list(tile->shape_) + ", " + dtype(tile->dtype_);
    if (tile->memref_)
      appendItem(text, memref(**tile->memref_));
    if (tile->memory_space_)
      appendItem(text, enumeration(*tile->memory_space_));
    if (tile->tile_view_)
      appendItem(text, view(*tile->tile_view_));
    return pl + "Tile[" + text + "]";
  }
  if (auto array = As<ArrayType>(node))
    return pl + "Array[" + expr(array->extent_) + ", " + dtype(array->dtype_) + "]";
  if (auto pointer = As<PtrType>(node))
    return pl + "Ptr[" + dtype(pointer->dtype_) + "]";
  if (auto tuple = As<TupleType>(node)) {
    std::string text;
    for (const TypePtr &each : tuple->types_)
      appendItem(text, type(each));
    return pl + "Tuple[" + text + "]";
  }
  if (IsA<PrefetchAsyncContextType>(node) || IsA<AsyncEventType>(node) || IsA<AsyncSessionType>(node)) {
    std::string_view name = KindName(node->kind());
    return pl + std::string(name.substr(0, name.size() - std::string_view("Type").size()));
  }
  return "";
}

} // namespace pypto::ir
