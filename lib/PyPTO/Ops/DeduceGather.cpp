// Result types of sorting and gathering.
#include "Deducer.h"

namespace pypto::ir {

TypePtr Deducer::sort32() const {
  Shape shape = shapeOf(first());
  shape.back() = ScaleExtent(shape.back(), 2, 1);
  return make(std::move(shape), *ElementTypeOf(first()), spaceOf(first()));
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
  const Shape &shape = shapeOf(first());
  CHECK(shape.size() == 2) << "rows of a tensor of two axes are compared with kvalue, not of " << ShapeText(shape);
  std::vector<TypePtr> types = {
      make({shape[0], Constant(*call.Keyword<int64_t>("out_cols"))}, DataType::INT32, std::nullopt),
      make({Constant(1), shape[0]}, *call.Keyword<DataType>("count_dtype"), std::nullopt)};
  return std::make_shared<const TupleType>(std::move(types));
}

TypePtr Deducer::fromMemory() const {
  TypePtr mem = operandType("mem"), idx = operandType("idx");
  CHECK_AS(TypeError, idx && ShapeOf(idx) && ElementTypeOf(idx)->IsInt()) << "idx must be a tile or tensor of integers";
  auto coalesce = *call.Keyword<std::string>("coalesce"), bounds = *call.Keyword<std::string>("gather_oob");
  CHECK(coalesce == "row" || coalesce == "elem") << "coalesce is row or elem, not " << coalesce;
  CHECK(bounds == "undefined" || bounds == "clamp" || bounds == "wrap" || bounds == "zero")
      << "gather_oob is undefined, clamp, wrap or zero, not " << bounds;
  Shape shape = shapeOf(idx), valid = validOf(idx), told = call.Elements("valid_shape");
  CHECK(shape.size() == 2) << "idx needs two axes";
  if (coalesce == "row") {
    const Shape &rows = shapeOf(mem);
    CHECK(rows.size() == 2) << "rows of a tensor of two axes are gathered, not of " << ShapeText(rows);
    int axis = ConstantInt(shape[0]) == 1 ? 1 : 0;
    shape = {shape[axis], rows[1]};
    if (!valid.empty())
      valid = {valid[axis], rows[1]};
  }
  if (!told.empty())
    valid = std::move(told);
  return make(std::move(shape), *ElementTypeOf(mem), call.Enum<MemorySpace>("target_memory"), std::move(valid));
}

TypePtr Deducer::blocks() const {
  TypePtr type = first();
  DataType dtype = call.Keyword<DataType>("output_dtype").value_or(*ElementTypeOf(type));
  Shape shape = shapeOf(operandType("byte_offsets")), valid = validOf(operandType("byte_offsets"));
  for (Shape *extents : {&shape, &valid})
    if (!extents->empty())
      extents->back() = ScaleExtent(extents->back(), 32, dtype.GetByte());
  return make(std::move(shape), dtype, spaceOf(type), std::move(valid));
}

} // namespace pypto::ir
