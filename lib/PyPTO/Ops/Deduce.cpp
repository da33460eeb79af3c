// Result types of arithmetic, and the choice of the rule.
#include "Deducer.h"

namespace pypto::ir {

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
    CHECK_AS(TypeError, fits) << "shapes " << ShapeText(a) << " and " << ShapeText(b)
                              << " do not broadcast; load both in one shape, or with an extent of 1";
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

/// Valid where either operand is; one that is valid in more rows but fewer columns than the other has no such type.
TypePtr Deducer::part() const {
  TypePtr left = operandType(row.params[0].name), right = operandType(row.params[1].name);
  const Shape &shape = shapeOf(left);
  Shape a = validOf(left), b = validOf(right);
  CHECK_AS(TypeError, shape.size() == shapeOf(right).size() && *ElementTypeOf(left) == *ElementTypeOf(right))
      << "operands of one shape and element type are needed";
  for (size_t i = 0; !a.empty() && !b.empty() && i < a.size(); ++i) {
    auto x = ConstantInt(a[i]), y = ConstantInt(b[i]);
    if (!SameExtent(a[i], b[i]))
      a[i] =
          x && y ? Constant(std::max(*x, *y)) : MakeBinary(NodeKind::Max, a[i], b[i], DataType::INDEX, Span::unknown());
  }
  return make(shape, *ElementTypeOf(left), spaceOf(left), b.empty() ? b : a);
}

/// An element type as people write it: fp32.
static std::string lower(DataType dtype) {
  std::string text(dtype.Name());
  for (char &c : text)
    c = c >= 'A' && c <= 'Z' ? char(c + 'a' - 'A') : c;
  return text;
}

TypePtr Deducer::reduce(bool rows) const {
  TypePtr type = first(), scratch = row.Find("tmp_tile") >= 0 ? operandType("tmp_tile") : nullptr;
  CHECK(!scratch || ElementTypeOf(scratch) == ElementTypeOf(type))
      << "tmp_tile dtype " << lower(*ElementTypeOf(scratch)) << " and input dtype " << lower(*ElementTypeOf(type))
      << " differ";
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

/// Operands of a block-scaled product: fp8, with a scale for each group of 32 along k.
void Deducer::checkScales() const {
  for (const char *name : {"lhs", "rhs"}) {
    TypePtr type = operandType(name), scales = operandType(std::string(name) + "_scale");
    bool left = name[0] == 'l';
    CHECK(*ElementTypeOf(type) == DataType::FP8E4M3FN || *ElementTypeOf(type) == DataType::FP8E5M2)
        << name << " of a scaled product has elements of FP8E4M3FN or FP8E5M2, not " << ElementTypeOf(type)->Name();
    CHECK(*ElementTypeOf(scales) == DataType::FP8E8M0)
        << name << "_scale has elements of FP8E8M0, not " << ElementTypeOf(scales)->Name();
    Shape shape = shapeOf(type), groups = shapeOf(scales);
    auto k = ConstantInt(shape[left]);
    CHECK(!k || *k % (2 * kScaleGroup) == 0) << "k of a scaled product is a multiple of 64, not " << *k;
    CHECK(shape.size() == 2 && groups.size() == 2) << "a scaled product has operands and scales of two axes";
    shape[left] = k ? Constant(*k / kScaleGroup) : groups[left];
    CHECK(SameExtent(groups[0], shape[0]) && SameExtent(groups[1], shape[1]))
        << name << "_scale has one scale for " << kScaleGroup << " elements along k: " << ShapeText(shape) << ", not "
        << ShapeText(groups);
  }
}

TypePtr Deducer::matmul() const {
  TypePtr left = operandType("lhs"), right = operandType("rhs");
  Shape a = shapeOf(left), b = shapeOf(right), validA = validOf(left), validB = validOf(right);
  CHECK(a.size() >= 2 && b.size() >= 2) << "operands need rows and columns";
  DataType x = *ElementTypeOf(left), y = *ElementTypeOf(right);
  CHECK_AS(TypeError, onTensors() || x == y)
      << "identical lhs and rhs data types are needed, not " << x.Name() << " and " << y.Name();
  auto transposed = [&](const char *keyword, Shape &shape, Shape &valid) {
    if (!call.Keyword<bool>(keyword).value_or(false))
      return;
    std::swap(shape[shape.size() - 2], shape.back());
    if (valid.size() >= 2)
      std::swap(valid[valid.size() - 2], valid.back());
  };
  transposed("a_trans", a, validA);
  transposed("b_trans", b, validB);
  CHECK(SameExtent(a.back(), b[b.size() - 2]))
      << "K differs: " << ShapeText(a) << " times " << ShapeText(b) << "; the columns of lhs are the rows of rhs";
  Shape shape = a.size() >= b.size() ? a : b;
  shape[shape.size() - 2] = a[a.size() - 2];
  shape.back() = b.back();
  Shape valid = shape;
  if (validA.size() >= 2)
    valid[valid.size() - 2] = validA[validA.size() - 2];
  if (validB.size() >= 2)
    valid.back() = validB.back();
  if (!onTensors())
    return make(std::move(shape), x.IsFloat() ? DataType::FP32 : DataType::INT32, MemorySpace::Acc, std::move(valid));
  auto dtype = call.Keyword<DataType>("out_dtype");
  return make(std::move(shape), dtype ? *dtype : PromoteTypes(x, y), std::nullopt, std::move(valid));
}

TypePtr Deducer::deduce() {
  if (row.Find("lhs_scale") >= 0)
    checkScales();
  if (row.name == "tile.store")
    checkStore();
  if (row.name.starts_with("comm."))
    checkSignal();
  switch (row.rule) {
  case OpRule::None:
    return UnknownType::Get();
  case OpRule::Like:
    return likeOperand();
  case OpRule::Promote:
    return promote();
  case OpRule::Part:
    return part();
  case OpRule::Row:
    return reduce(true);
  case OpRule::Column:
    return reduce(false);
  case OpRule::Shape:
    return shaped();
  case OpRule::Window:
    return std::make_shared<const DistributedTensorType>(call.Elements("shape"), *call.Keyword<DataType>("dtype"));
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
  case OpRule::Sort32:
    return sort32();
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
  case OpRule::Memory:
    return fromMemory();
  case OpRule::Blocks:
    return blocks();
  case OpRule::Fill:
    return filled();
  case OpRule::Valid:
    return withValid(shapeOf(first()), *ElementTypeOf(first()), spaceOf(first()),
                     {call.Operand("rows"), call.Operand("cols")});
  case OpRule::Shard:
    return shard();
  case OpRule::Join:
    return join();
  case OpRule::Reinterpret:
    return reinterpret();
  case OpRule::Array:
    return std::make_shared<const ArrayType>(*call.Keyword<DataType>("dtype"), call.Operand("extent"));
  }
  __builtin_unreachable();
}

TypePtr DeduceType(const OpView &call) { return Deducer(call).deduce(); }

} // namespace pypto::ir
