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
  return indicesCounts();
}

TypePtr Deducer::blocks() const {
  TypePtr type = first();
  DataType dtype = call.Keyword<DataType>("output_dtype").value_or(*ElementTypeOf(type));
  Shape shape = shapeOf(operandType("byte_offsets"));
  shape.back() = ScaleExtent(shape.back(), 32, dtype.GetByte());
  return make(std::move(shape), dtype, spaceOf(type));
}

} // namespace pypto::ir
