// What deduces the type of one call: a method per rule.
#ifndef LIB_PYPTO_OPS_DEDUCER_H
#define LIB_PYPTO_OPS_DEDUCER_H

#include "Deduce.h"
#include "pypto/core/error.h"

namespace pypto::ir {

using Shape = std::vector<ExprPtr>;

class Deducer {
public:
  explicit Deducer(const OpView &call) : call(call), row(*call.row()) {}

  TypePtr deduce();

private:
  /// The type of the first operand that is a tile or tensor, else null.
  TypePtr first() const {
    for (const OpParam &param : row.params)
      if (param.operand)
        if (ExprPtr operand = call.Operand(param.name); operand && ShapeOf(operand->type_))
          return operand->type_;
    return nullptr;
  }
  TypePtr operandType(std::string_view name) const {
    ExprPtr operand = call.Operand(name);
    return operand ? operand->type_ : nullptr;
  }
  const Shape &shapeOf(const TypePtr &type) const {
    const Shape *shape = ShapeOf(type);
    CHECK_AS(TypeError, shape && !shape->empty()) << "a tile or tensor with axes is needed";
    return *shape;
  }
  bool onTensors() const { return row.name.starts_with("tensor."); }
  DataType element(DataType otherwise) const {
    return row.element.empty() ? otherwise : *DataType::FromName(row.element);
  }
  static std::optional<MemorySpace> spaceOf(const TypePtr &type) {
    auto tile = As<TileType>(type);
    return tile ? tile->GetMemorySpace() : std::nullopt;
  }
  /// The valid extents of a type, empty where all of it is valid.
  static Shape validOf(const TypePtr &type) {
    if (auto tile = As<TileType>(type))
      return tile->tile_view_ ? tile->tile_view_->valid_shape : Shape();
    auto tensor = As<TensorType>(type);
    return tensor && tensor->tensor_view_ ? tensor->tensor_view_->valid_shape : Shape();
  }

  /// A tile in `tile.*`, a tensor in `tensor.*`.
  TypePtr make(Shape shape, DataType dtype, std::optional<MemorySpace> space, Shape valid = {}) const {
    bool whole = valid.size() != shape.size();
    for (size_t i = 0; !whole && i < shape.size(); ++i)
      if (!SameExtent(valid[i], shape[i]))
        return withValid(std::move(shape), dtype, space, std::move(valid));
    if (onTensors())
      return std::make_shared<const TensorType>(std::move(shape), dtype);
    return std::make_shared<const TileType>(std::move(shape), dtype, std::nullopt, std::nullopt, space);
  }
  TypePtr withValid(Shape shape, DataType dtype, std::optional<MemorySpace> space, Shape valid) const {
    if (onTensors()) {
      TensorView view;
      view.valid_shape = std::move(valid);
      return std::make_shared<const TensorType>(std::move(shape), dtype, std::nullopt, std::move(view));
    }
    TileView view = DefaultTileView(space.value_or(MemorySpace::Vec), shape);
    view.valid_shape = std::move(valid);
    return std::make_shared<const TileType>(std::move(shape), dtype, std::nullopt, std::move(view), space);
  }
  /// The type with other elements and without a buffer.
  TypePtr like(const TypePtr &type, DataType dtype) const {
    if (auto tile = As<TileType>(type))
      return std::make_shared<const TileType>(tile->shape_, dtype, std::nullopt, tile->tile_view_,
                                              tile->GetMemorySpace());
    auto tensor = As<TensorType>(type);
    if (!tensor)
      return type;
    return std::make_shared<const TensorType>(tensor->shape_, dtype, std::nullopt, tensor->tensor_view_);
  }

  TypePtr likeOperand() const;
  TypePtr promote() const;
  TypePtr part() const;
  TypePtr reduce(bool rows) const;
  TypePtr shaped() const;
  TypePtr view() const;
  TypePtr load() const;
  void checkStore() const;
  void checkSignal() const;
  TypePtr move() const;
  TypePtr mask() const;
  TypePtr elementOf() const;
  TypePtr matmul() const;
  void checkScales() const;
  TypePtr transpose() const;
  TypePtr sort32() const;
  TypePtr columns(bool all) const;
  TypePtr everyNth() const;
  TypePtr indicesCounts() const;
  TypePtr gatherAny() const;
  TypePtr fromMemory() const;
  TypePtr blocks() const;
  TypePtr filled() const;
  TypePtr reinterpret() const;
  TypePtr shard() const;
  TypePtr join() const;

  const OpView &call;
  const OpRow &row;
};

} // namespace pypto::ir

#endif // LIB_PYPTO_OPS_DEDUCER_H
