// Result types, rule by rule.
#include "Deduce.h"

#include "pypto/core/error.h"

namespace pypto::ir {
namespace {

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
    CHECK_AS(TypeError, shape && shape->size() >= 1) << "a tile or tensor with axes is needed";
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
  TypePtr reduce(bool rows) const;
  TypePtr shaped() const;
  TypePtr view() const;
  TypePtr load() const;
  TypePtr move() const;
  TypePtr mask() const;
  TypePtr elementOf() const;
  TypePtr matmul() const;
  TypePtr transpose() const;
  TypePtr columns(bool all) const;
  TypePtr everyNth() const;
  TypePtr indicesCounts() const;
  TypePtr gatherAny() const;
  TypePtr blocks() const;
  TypePtr filled() const;
  TypePtr reinterpret() const;

  const OpView &call;
  const OpRow &row;
};

TypePtr Deducer::likeOperand() const {
  TypePtr type = row.like.empty() ? first() : operandType(row.like);
  if (!type) { // an array
    ExprPtr operand = call.Operand(row.params.front().name);
    return operand->type_;
  }
  // What an operation writes to in global memory is its result: an alias of the very tensor.
  return IsA<TensorType>(type) && !onTensors() ? type : like(type, element(*ElementTypeOf(type)));
}

TypePtr Deducer::promote() const {
  TypePtr left = operandType(row.params[0].name), right = operandType(row.params[1].name);
  const Shape &a = shapeOf(left), &b = shapeOf(right);
  Shape shape(std::max(a.size(), b.size()));
  for (size_t i = 0; i < shape.size(); ++i) {
    size_t fromEnd = shape.size() - i;
    ExprPtr x = fromEnd <= a.size() ? a[a.size() - fromEnd] : nullptr;
    ExprPtr y = fromEnd <= b.size() ? b[b.size() - fromEnd] : nullptr;
    bool fits = !x || !y || SameExtent(x, y) || ConstantInt(x) == 1 || ConstantInt(y) == 1;
    CHECK_AS(TypeError, fits) << "shapes " << ShapeText(a) << " and " << ShapeText(b) << " do not broadcast";
    shape[i] = !x || (y && ConstantInt(x) == 1) ? y : x;
  }
  auto same = [&](const Shape &other) {
    bool equal = other.size() == shape.size();
    for (size_t i = 0; equal && i < shape.size(); ++i)
      equal = SameExtent(other[i], shape[i]);
    return equal;
  };
  Shape valid = same(a) ? validOf(left) : Shape();
  if (valid.empty() && same(b))
    valid = validOf(right);
  auto space = spaceOf(left);
  return make(std::move(shape), PromoteTypes(*ElementTypeOf(left), *ElementTypeOf(right)), space, std::move(valid));
}

TypePtr Deducer::reduce(bool rows) const {
  TypePtr type = first();
  Shape shape = shapeOf(type), valid = validOf(type);
  for (Shape *extents : {&shape, &valid})
    if (!extents->empty()) {
      if (rows)
        extents->back() = Constant(1);
      else
        *extents = {Constant(1), extents->back()};
    }
  return make(std::move(shape), element(*ElementTypeOf(type)), spaceOf(type), std::move(valid));
}

TypePtr Deducer::shaped() const {
  auto space = call.Enum<MemorySpace>("target_memory");
  TypePtr source = first();
  if (!space)
    space = source ? spaceOf(source) : MemorySpace::Vec;
  auto dtype = call.Keyword<DataType>("dtype");
  CHECK(dtype || source) << "dtype is missing";
  Shape valid = row.Find("valid_shape") >= 0 ? call.Elements("valid_shape") : Shape();
  return make(call.Elements("shape"), dtype ? *dtype : *ElementTypeOf(source), space, std::move(valid));
}

TypePtr Deducer::view() const {
  TypePtr type = first();
  Shape shape = call.Elements("shape");
  bool hasValid = row.Find("valid_shape") >= 0;
  Shape valid = hasValid ? call.Elements("valid_shape") : Shape();
  if (shape.empty())
    shape = shapeOf(type);
  if (row.Find("offset") >= 0) {
    const Shape &whole = shapeOf(type);
    Shape offset = call.Elements("offset"), source = validOf(type);
    CHECK(shape.size() == whole.size() && offset.size() == whole.size())
        << "a window of " << ShapeText(whole) << " needs " << whole.size() << " extents and offsets";
    for (size_t i = 0; valid.empty() && !source.empty() && i < shape.size(); ++i)
      source[i] = WindowExtent(source[i], offset[i], shape[i]);
    if (valid.empty())
      valid = std::move(source);
    Shape dropped = call.Elements("drop_dims");
    for (size_t i = dropped.size(); onTensors() && i-- > 0;) {
      int64_t axis = ConstantInt(dropped[i]).value_or(-1);
      CHECK(axis >= 0 && uint64_t(axis) < shape.size()) << "drop_dims: there is no axis " << axis;
      shape.erase(shape.begin() + axis);
      if (!valid.empty())
        valid.erase(valid.begin() + axis);
    }
  }
  return make(std::move(shape), *ElementTypeOf(type), spaceOf(type), std::move(valid));
}

TypePtr Deducer::load() const {
  TypePtr type = first();
  const Shape &whole = shapeOf(type);
  Shape offsets = call.Elements("offsets"), shape = call.Elements("shapes"), valid = call.Elements("valid_shape");
  CHECK(offsets.size() == whole.size() && shape.size() == whole.size())
      << "a window of " << ShapeText(whole) << " needs " << whole.size() << " offsets and extents, not "
      << offsets.size() << " and " << shape.size();
  CHECK(valid.empty() || valid.size() == shape.size()) << "valid_shape needs " << shape.size() << " extents";
  // Where everything is known, what lies behind the tensor's end is not valid.
  for (size_t i = 0; i < shape.size(); ++i) {
    auto end = ConstantInt(whole[i]), start = ConstantInt(offsets[i]), size = ConstantInt(shape[i]);
    if (!end || !start || !size)
      continue;
    CHECK(*start >= 0 && *start < *end) << "offset " << *start << " lies outside the extent " << *end;
    if (*start + *size <= *end)
      continue;
    if (valid.empty())
      valid = shape;
    if (auto wanted = ConstantInt(valid[i]); !wanted || *wanted > *end - *start)
      valid[i] = wanted ? Constant(*end - *start) : WindowExtent(valid[i], Constant(0), Constant(*end - *start));
  }
  return make(std::move(shape), *ElementTypeOf(type), call.Enum<MemorySpace>("target_memory"), std::move(valid));
}

TypePtr Deducer::move() const {
  TypePtr type = first();
  auto space = call.Enum<MemorySpace>("target_memory");
  auto blayout = call.Enum<TileLayout>("blayout"), slayout = call.Enum<TileLayout>("slayout");
  const Shape &shape = shapeOf(type);
  if (!blayout && !slayout)
    return make(shape, *ElementTypeOf(type), space, validOf(type));
  TileView view = DefaultTileView(*space, shape);
  view.blayout = blayout.value_or(view.blayout);
  view.slayout = slayout.value_or(view.slayout);
  view.valid_shape = validOf(type);
  return std::make_shared<const TileType>(shape, *ElementTypeOf(type), std::nullopt, std::move(view), space);
}

TypePtr Deducer::mask() const {
  TypePtr type = first();
  if (onTensors())
    return like(type, *ElementTypeOf(type));
  Shape shape = shapeOf(type);
  auto columns = ConstantInt(shape.back());
  CHECK(columns) << "a comparison needs constant columns";
  constexpr int64_t kBytes = 32;
  int64_t bytes = (*columns + 7) / 8;
  shape.back() = Constant((bytes + kBytes - 1) / kBytes * kBytes);
  return make(std::move(shape), DataType::UINT8, spaceOf(type));
}

TypePtr Deducer::elementOf() const {
  TypePtr type = call.Operand(row.params.front().name)->type_;
  if (auto array = As<ArrayType>(type))
    return std::make_shared<const ScalarType>(array->dtype_);
  CHECK(call.Elements("indices").size() == shapeOf(type).size())
      << "an element of " << ShapeText(shapeOf(type)) << " needs " << shapeOf(type).size() << " indices";
  return std::make_shared<const ScalarType>(*ElementTypeOf(type));
}

TypePtr Deducer::matmul() const {
  TypePtr left = operandType("lhs"), right = operandType("rhs");
  Shape a = shapeOf(left), b = shapeOf(right);
  CHECK(a.size() >= 2 && b.size() >= 2) << "operands need rows and columns";
  DataType x = *ElementTypeOf(left), y = *ElementTypeOf(right);
  CHECK_AS(TypeError, onTensors() || x == y) << "operands of types " << x.Name() << " and " << y.Name();
  if (call.Keyword<bool>("a_trans").value_or(false))
    std::swap(a[a.size() - 2], a.back());
  if (call.Keyword<bool>("b_trans").value_or(false))
    std::swap(b[b.size() - 2], b.back());
  CHECK(SameExtent(a.back(), b[b.size() - 2])) << "K differs: " << ShapeText(a) << " times " << ShapeText(b);
  Shape shape = a.size() >= b.size() ? a : b;
  shape[shape.size() - 2] = a[a.size() - 2];
  shape.back() = b.back();
  if (!onTensors())
    return make(std::move(shape), x.IsFloat() ? DataType::FP32 : DataType::INT32, MemorySpace::Acc);
  auto dtype = call.Keyword<DataType>("out_dtype");
  return make(std::move(shape), dtype ? *dtype : PromoteTypes(x, y), std::nullopt);
}

TypePtr Deducer::transpose() const {
  TypePtr type = first();
  Shape shape = shapeOf(type), valid = validOf(type);
  CHECK(shape.size() >= 2) << "a transposition needs two axes";
  int64_t rank = int64_t(shape.size()), axes[2] = {rank - 2, rank - 1};
  if (row.Find("axis1") >= 0) {
    const char *names[2] = {"axis1", "axis2"};
    for (int i = 0; i < 2; ++i) {
      axes[i] = ConstantInt(call.Operand(names[i])).value_or(rank);
      axes[i] += axes[i] < 0 ? rank : 0;
      CHECK(axes[i] >= 0 && axes[i] < rank) << names[i] << " must be a constant axis of " << ShapeText(shape);
    }
  }
  std::swap(shape[axes[0]], shape[axes[1]]);
  if (!valid.empty())
    std::swap(valid[axes[0]], valid[axes[1]]);
  return make(std::move(shape), *ElementTypeOf(type), spaceOf(type), std::move(valid));
}

/// Columns of all tiles that are operands, or of the first two.
TypePtr Deducer::columns(bool all) const {
  TypePtr type = first();
  Shape shape = shapeOf(type);
  for (const OpParam &param : row.params.subspan(1)) {
    TypePtr other = param.operand && param.name != "tmp" ? operandType(param.name) : nullptr;
    if (!other)
      continue;
    const Shape &more = shapeOf(other);
    CHECK(more.size() == shape.size() && (all || SameExtent(more[0], shape[0])))
        << "rows of " << ShapeText(shape) << " and " << ShapeText(more) << " differ";
    shape.back() = AddExtents(shape.back(), more.back());
  }
  return make(std::move(shape), *ElementTypeOf(type), spaceOf(type));
}

TypePtr Deducer::everyNth() const {
  TypePtr type = first();
  Shape shape = shapeOf(type);
  auto pattern = *call.Enum<MaskPattern>("mask_pattern");
  CHECK(pattern != MaskPattern::None_) << "mask_pattern selects nothing";
  int64_t period = pattern == MaskPattern::P1111 ? 1 : pattern <= MaskPattern::P1010 ? 2 : 4;
  shape.back() = ScaleExtent(shape.back(), 1, period);
  return make(std::move(shape), call.Keyword<DataType>("output_dtype").value_or(*ElementTypeOf(type)), spaceOf(type));
}

TypePtr Deducer::indicesCounts() const {
  TypePtr type = first();
  Shape rows = shapeOf(type), counts = rows;
  rows.back() = Constant(*call.Keyword<int64_t>("out_cols"));
  counts.back() = Constant(1);
  std::vector<TypePtr> types = {make(rows, DataType::INT32, spaceOf(type)),
                                make(counts, *call.Keyword<DataType>("count_dtype"), spaceOf(type))};
  return std::make_shared<const TupleType>(std::move(types));
}

TypePtr Deducer::gatherAny() const {
  bool byIndex = call.Operand("index") != nullptr, byPattern = call.Keyword("mask_pattern").has_value();
  bool byValue = call.Operand("kvalue") != nullptr;
  CHECK(byIndex + byPattern + byValue == 1) << "one of index, mask_pattern and kvalue is needed";
  if (byPattern)
    return everyNth();
  if (!byValue)
    return make(shapeOf(operandType("index")), *ElementTypeOf(first()), std::nullopt);
  CHECK(call.Keyword("out_cols")) << "kvalue needs out_cols";
  return indicesCounts();
}

TypePtr Deducer::blocks() const {
  TypePtr type = first();
  DataType dtype = call.Keyword<DataType>("output_dtype").value_or(*ElementTypeOf(type));
  Shape shape = shapeOf(operandType("byte_offsets"));
  shape.back() = ScaleExtent(shape.back(), 32, dtype.GetByte());
  return make(std::move(shape), dtype, spaceOf(type));
}

TypePtr Deducer::filled() const {
  TypePtr type = first();
  auto tile = As<TileType>(type);
  if (!tile)
    return make(shapeOf(type), *ElementTypeOf(type), std::nullopt);
  TileView view = TileViewOf(*tile);
  view.valid_shape.clear();
  view.pad = *call.Enum<PadValue>("pad_value");
  return std::make_shared<const TileType>(tile->shape_, tile->dtype_, std::nullopt, std::move(view),
                                          tile->GetMemorySpace());
}

TypePtr Deducer::reinterpret() const {
  TypePtr type = first();
  DataType dtype = *call.Keyword<DataType>("dtype");
  Shape shape = call.Elements("shape");
  if (shape.empty()) {
    shape = shapeOf(type);
    shape.back() = ScaleExtent(shape.back(), ElementTypeOf(type)->GetBit(), dtype.GetBit());
  }
  return make(std::move(shape), dtype, spaceOf(type));
}

TypePtr Deducer::deduce() {
  switch (row.rule) {
  case OpRule::None:
    return UnknownType::Get();
  case OpRule::Like:
    return likeOperand();
  case OpRule::Promote:
    return promote();
  case OpRule::Row:
    return reduce(true);
  case OpRule::Column:
    return reduce(false);
  case OpRule::Shape:
    return shaped();
  case OpRule::View:
    return view();
  case OpRule::Load:
    return load();
  case OpRule::Move:
    return move();
  case OpRule::Cast:
    return like(first(), *call.Keyword<DataType>("target_type"));
  case OpRule::Mask:
    return mask();
  case OpRule::Element:
    return elementOf();
  case OpRule::Index:
    return std::make_shared<const ScalarType>(element(DataType::INDEX));
  case OpRule::Matmul:
    return matmul();
  case OpRule::Transpose:
    return transpose();
  case OpRule::Concat:
    return columns(false);
  case OpRule::Merge:
    return columns(true);
  case OpRule::Sort32: {
    Shape shape = shapeOf(first());
    shape.back() = ScaleExtent(shape.back(), 2, 1);
    return make(std::move(shape), *ElementTypeOf(first()), spaceOf(first()));
  }
  case OpRule::EveryNth:
    return everyNth();
  case OpRule::IndicesCounts:
    return indicesCounts();
  case OpRule::Gather:
    return make(shapeOf(operandType("idx")), *ElementTypeOf(first()), MemorySpace::Vec);
  case OpRule::GatherAny:
    return gatherAny();
  case OpRule::ScatterAny:
    return like(operandType(call.Operand("dst") ? "dst" : "input"), *ElementTypeOf(first()));
  case OpRule::Blocks:
    return blocks();
  case OpRule::Fill:
    return filled();
  case OpRule::Valid:
    return withValid(shapeOf(first()), *ElementTypeOf(first()), spaceOf(first()),
                     {call.Operand("rows"), call.Operand("cols")});
  case OpRule::Reinterpret:
    return reinterpret();
  case OpRule::Array:
    return std::make_shared<const ArrayType>(*call.Keyword<DataType>("dtype"), call.Operand("extent"));
  }
  __builtin_unreachable();
}

} // namespace

TypePtr DeduceType(const OpView &call) { return Deducer(call).deduce(); }

} // namespace pypto::ir
