// Result types of loads, moves, views and windows.
#include "Deducer.h"

#include "pto_mlir/Support/Ranks.h"

namespace pypto::ir {

TypePtr Deducer::shaped() const {
  auto space = call.Enum<MemorySpace>("target_memory");
  TypePtr source = first();
  if (!space)
    space = source ? spaceOf(source) : MemorySpace::Vec;
  auto dtype = call.Keyword<DataType>("dtype");
  CHECK(dtype || source) << "dtype is missing";
  Shape valid = row.Find("valid_shape") >= 0 ? call.Elements("valid_shape") : Shape();
  if (space == MemorySpace::Mat && row.Find("transpose") >= 0 && call.Keyword<bool>("transpose").value_or(false)) {
    TileView view = DefaultTileView(*space, call.Elements("shape")); // boxes of the transpose
    std::swap(view.blayout, view.slayout);
    return std::make_shared<const TileType>(call.Elements("shape"), dtype ? *dtype : *ElementTypeOf(source),
                                            std::nullopt, std::move(view), space);
  }
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

/// The axes before the last one as one.
static Shape Flattened(const Shape &extents) {
  ExprPtr rows = Constant(1);
  for (size_t i = 0; i + 1 < extents.size(); ++i) {
    auto size = ConstantInt(extents[i]), before = ConstantInt(rows);
    rows = size && before ? Constant(*size * *before)
           : before == 1  ? extents[i]
           : size == 1    ? rows
                          : MakeBinary(NodeKind::Mul, rows, extents[i], DataType::INDEX, extents[i]->span_);
  }
  return {rows, extents.back()};
}

/// How scales lie in Mat that a tensor holds in that layout; nothing for layouts of other tensors.
static std::optional<TileView> BoxedScales(TensorLayout layout) {
  if (layout != TensorLayout::MX_A_ZZ && layout != TensorLayout::MX_B_NN)
    return std::nullopt;
  TileView view;
  view.blayout = view.slayout = layout == TensorLayout::MX_A_ZZ ? TileLayout::row_major : TileLayout::col_major;
  view.fractal = kScaleFractal;
  return view;
}

/// A tile of two axes may be loaded from a tensor of more: its rows are the rows of the window that valid_shape says.
TypePtr Deducer::load() const {
  TypePtr type = first();
  const Shape &whole = shapeOf(type);
  Shape offsets = call.Elements("offsets"), valid = call.Elements("valid_shape"),
        shape = call.Elements(row.Find("shapes") >= 0 ? "shapes" : "shape");
  if (offsets.size() == whole.size() && valid.size() == whole.size() && shape.size() == 2 && whole.size() > 2)
    return make(std::move(shape), *ElementTypeOf(type), call.Enum<MemorySpace>("target_memory"), Flattened(valid));
  CHECK(offsets.size() == whole.size() && shape.size() == whole.size())
      << "a window of " << ShapeText(whole) << " needs " << whole.size() << " offsets and extents, not "
      << offsets.size() << " and " << shape.size() << "; give one of each for each axis";
  CHECK(valid.empty() || valid.size() == shape.size()) << "valid_shape needs " << shape.size() << " extents";
  for (const ExprPtr &extent : valid)
    CHECK(ConstantInt(extent).value_or(1) > 0)
        << "an extent of valid_shape must be positive, not " << *ConstantInt(extent);
  bool clamp = row.Find("clamp") >= 0 && call.Keyword<bool>("clamp").value_or(false);
  // Where everything is known, or asked for, what lies behind the tensor's end is not valid.
  for (size_t i = 0; i < shape.size(); ++i) {
    auto end = ConstantInt(whole[i]), start = ConstantInt(offsets[i]), size = ConstantInt(shape[i]);
    if (!end || !start || !size) {
      if (clamp) {
        valid = valid.empty() ? shape : valid;
        valid[i] = WindowExtent(whole[i], offsets[i], valid[i]);
      }
      continue;
    }
    CHECK(*start >= 0 && *start < *end) << "offset " << *start << " lies outside the extent " << *end
                                        << "; begin inside of the tensor";
    if (*start + *size <= *end)
      continue;
    if (valid.empty())
      valid = shape;
    if (auto wanted = ConstantInt(valid[i]); !wanted || *wanted > *end - *start)
      valid[i] = wanted ? Constant(*end - *start) : WindowExtent(valid[i], Constant(0), Constant(*end - *start));
  }
  if (auto tensor = As<TensorType>(type); tensor && tensor->tensor_view_)
    if (auto view = BoxedScales(tensor->tensor_view_->layout)) {
      CHECK(call.Enum<MemorySpace>("target_memory") == MemorySpace::Mat)
          << "scales are loaded with `target_memory=pl.Mem.Mat`";
      view->valid_shape = std::move(valid);
      return std::make_shared<const TileType>(std::move(shape), *ElementTypeOf(type), std::nullopt, std::move(view),
                                              MemorySpace::Mat);
    }
  return make(std::move(shape), *ElementTypeOf(type), call.Enum<MemorySpace>("target_memory"), std::move(valid));
}

/// What is known of a window must lie in the tensor: behind the end of a row another one begins.
void Deducer::checkStore() const {
  TypePtr type = first();
  const Shape &whole = shapeOf(operandType("out"));
  Shape offsets = call.Elements("offsets"), size = validOf(type);
  if (size.empty())
    size = shapeOf(type);
  bool shaped = row.Find("shapes") >= 0 && !call.Elements("shapes").empty();
  for (size_t i = 0; i < whole.size() && offsets.size() == whole.size() && !shaped; ++i) {
    auto start = ConstantInt(offsets[i]), end = ConstantInt(whole[i]);
    CHECK(!start || *start >= 0) << "offset " << *start << " is negative";
    auto extent = size.size() == whole.size() ? ConstantInt(size[i]) : std::nullopt;
    CHECK(!start || !end || !extent || *start + *extent <= *end)
        << "the window is not inside of the tensor: " << *start << " + " << *extent << " of " << *end << " on axis "
        << i << "; say the part that is valid, or store to another place";
  }
}

/// What is known of a rank, a cell of a window and its value.
void Deducer::checkSignal() const {
  if (row.Find("peer") >= 0)
    if (auto peer = ConstantInt(call.Operand("peer")))
      CHECK(*peer >= 0 && *peer < int64_t(pto_mlir::kMostRanks))
          << "there is no rank " << *peer << "; it is below `pld.nranks(ctx)`";
  const char *cells = row.name == "comm.notify" ? "target" : "signal";
  if (row.name != "comm.notify" && row.name != "comm.wait" && row.name != "comm.defer_wait")
    return;
  const Shape &whole = shapeOf(operandType(cells));
  Shape offsets = call.Elements("offsets");
  for (size_t i = 0; i < whole.size() && offsets.size() == whole.size(); ++i)
    if (auto at = ConstantInt(offsets[i]), end = ConstantInt(whole[i]); at && end)
      CHECK(*at >= 0 && *at < *end) << "there is no cell " << *at << " on axis " << i << ", which has " << *end;
  for (const char *name : {"value", "expected"})
    if (auto value = row.Find(name) >= 0 ? ConstantInt(call.Operand(name)) : std::nullopt)
      CHECK(*value == int32_t(*value)) << *value << " is out of the range of INT32";
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
    TypePtr other = param.kind == ParamKind::Data && param.name != "tmp" ? operandType(param.name) : nullptr;
    if (!other)
      continue;
    const Shape &more = shapeOf(other);
    CHECK(more.size() == shape.size() && (all || SameExtent(more[0], shape[0])))
        << "rows of " << ShapeText(shape) << " and " << ShapeText(more) << " differ";
    shape.back() = AddExtents(shape.back(), more.back());
  }
  return make(std::move(shape), *ElementTypeOf(type), spaceOf(type));
}

TypePtr Deducer::filled() const {
  TypePtr type = first();
  auto tile = As<TileType>(type);
  Shape shape = call.row()->Find("shape") < 0 ? shapeOf(type) : call.Elements("shape");
  if (!tile)
    return make(std::move(shape), *ElementTypeOf(type), std::nullopt);
  TileView view = TileViewOf(*tile);
  view.valid_shape.clear();
  view.pad = *call.Enum<PadValue>("pad_value");
  return std::make_shared<const TileType>(std::move(shape), tile->dtype_, std::nullopt, std::move(view),
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

/// The axis that a mode splits; nothing for NONE.
static std::optional<size_t> splitAxis(const OpView &call, const Shape &shape) {
  SplitMode mode = call.Enum<SplitMode>("mode").value_or(SplitMode::NONE);
  if (mode == SplitMode::NONE)
    return std::nullopt;
  CHECK(mode == SplitMode::LEFT_RIGHT || shape.size() >= 2)
      << "UP_DOWN splits rows, which " << ShapeText(shape) << " has not; use LEFT_RIGHT";
  return shape.size() - (mode == SplitMode::UP_DOWN ? 2 : 1);
}

/// Both cores have a box of half the extent, rounded up; the second one's may end earlier.
TypePtr Deducer::shard() const {
  TypePtr type = first();
  Shape shape = shapeOf(type), valid = validOf(type);
  if (auto axis = splitAxis(call, shape)) {
    auto whole = ConstantInt(shape[*axis]);
    CHECK(whole) << "the axis that is split must have a constant extent";
    ExprPtr half = Constant((*whole + 1) / 2), lane = call.Operand("lane");
    CHECK(lane) << "it stands in `for lane in pl.split_aiv(2, mode=..)`";
    if (valid.size() != shape.size())
      valid = shape;
    bool isWhole = SameExtent(valid[*axis], shape[*axis]) && *whole % 2 == 0;
    valid[*axis] = isWhole ? half : LaneExtent(valid[*axis], lane, *ConstantInt(half));
    shape[*axis] = half;
  }
  return make(std::move(shape), *ElementTypeOf(type), MemorySpace::Vec, std::move(valid));
}

TypePtr Deducer::join() const {
  TypePtr type = first();
  Shape shape = shapeOf(type), valid = validOf(type);
  if (auto axis = splitAxis(call, shape)) {
    auto half = ConstantInt(shape[*axis]);
    CHECK(half && *half <= (int64_t(1) << 40)) << "the axis that is split must have a constant extent";
    shape[*axis] = Constant(2 * *half);
    if (valid.size() == shape.size())
      valid[*axis] = shape[*axis];
  }
  return make(std::move(shape), *ElementTypeOf(type), MemorySpace::Mat, std::move(valid));
}

} // namespace pypto::ir
