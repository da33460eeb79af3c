// Types: construction and what they must hold to.
#include "pypto/ir/expr.h"
#include "pypto/ir/node_access.h"

namespace pypto::ir {
namespace {

/// More elements than any memory here has; keeps products of extents far from overflow.
constexpr int64_t kMostElements = int64_t(1) << 36;

void checkExtent(const ExprPtr &extent) {
  auto dtype = ElementTypeOf(extent->type_);
  CHECK(IsA<ScalarType>(extent->type_) && dtype->IsInt()) << "an extent must be an integer";
  auto value = ConstantInt(extent);
  CHECK(!value || *value > 0) << "an extent must be positive, not " << *value;
}

void checkShape(const std::vector<ExprPtr> &shape) {
  int64_t elements = 1;
  for (const ExprPtr &extent : shape) {
    checkExtent(extent);
    int64_t value = ConstantInt(extent).value_or(1);
    CHECK(value <= kMostElements / elements) << "a shape must hold at most 2^36 elements";
    elements *= value;
  }
}

} // namespace

TypePtr UnknownType::Get() {
  static const TypePtr kUnknown = NodeAccess::New<UnknownType>();
  return kUnknown;
}

ScalarType::ScalarType(DataType dtype) : ScalarType() { dtype_ = dtype; }
PtrType::PtrType(DataType dtype) : PtrType() { dtype_ = dtype; }

MemRef::MemRef(MemorySpace memory_space, ExprPtr addr, uint64_t size, uint64_t id, std::string name, uint64_t slots,
               ExprPtr slot)
    : MemRef() {
  memory_space_ = memory_space;
  addr_ = std::move(addr);
  size_ = size;
  id_ = id;
  name_ = std::move(name);
  slots_ = slots;
  slot_ = std::move(slot);
  NodeAccess::Complete(*this);
}

void MemRef::Finish() {
  CHECK(slots_ >= 1 && slots_ <= 1024) << "MemRef: slots must be 1 to 1024, not " << slots_;
  CHECK(size_ <= uint64_t(kMostElements) * 8) << "MemRef: size is too large";
  if (!slot_)
    return;
  auto dtype = ElementTypeOf(slot_->type_);
  CHECK(IsA<ScalarType>(slot_->type_) && dtype->IsInt()) << "MemRef: the slot must be an integer";
  auto slot = ConstantInt(slot_);
  CHECK(!slot || (*slot >= 0 && *slot < int64_t(slots_)))
      << "MemRef: the slot must be 0 to " << slots_ - 1 << ", not " << *slot;
  CHECK(!addr_) << "MemRef: a slot has no address of its own";
}

TensorType::TensorType(std::vector<ExprPtr> shape, DataType dtype, std::optional<MemRefPtr> memref,
                       std::optional<TensorView> tensor_view)
    : TensorType() {
  shape_ = std::move(shape);
  dtype_ = dtype;
  memref_ = std::move(memref);
  tensor_view_ = std::move(tensor_view);
  NodeAccess::Complete(*this);
}

TensorType::TensorType(const std::vector<int64_t> &shape, DataType dtype) : TensorType(ConstantShape(shape), dtype) {}

void TensorType::Finish() { checkShape(shape_); }

DistributedTensorType::DistributedTensorType(std::vector<ExprPtr> shape, DataType dtype) : DistributedTensorType() {
  shape_ = std::move(shape);
  dtype_ = dtype;
  NodeAccess::Complete(*this);
}

TileType::TileType(std::vector<ExprPtr> shape, DataType dtype, std::optional<MemRefPtr> memref,
                   std::optional<TileView> tile_view, std::optional<MemorySpace> memory_space)
    : TileType() {
  shape_ = std::move(shape);
  dtype_ = dtype;
  memref_ = std::move(memref);
  tile_view_ = std::move(tile_view);
  memory_space_ = memory_space;
  NodeAccess::Complete(*this);
}

TileType::TileType(const std::vector<int64_t> &shape, DataType dtype) : TileType(ConstantShape(shape), dtype) {}

void TileType::Finish() { checkShape(shape_); }

std::optional<MemorySpace> TileType::GetMemorySpace() const {
  if (memory_space_ || !memref_)
    return memory_space_;
  return (*memref_)->memory_space_;
}

MemRefPtr TileType::OwnBuffer() const { return memref_ && !(*memref_)->slot_ ? *memref_ : nullptr; }

ArrayType::ArrayType(DataType dtype, ExprPtr extent) : ArrayType() {
  dtype_ = dtype;
  extent_ = std::move(extent);
  NodeAccess::Complete(*this);
}

void ArrayType::Finish() { checkShape({extent_}); }

TupleType::TupleType(std::vector<TypePtr> types) : TupleType() {
  types_ = std::move(types);
  NodeAccess::Complete(*this);
}

void TupleType::Finish() {}

TileView DefaultTileView(MemorySpace space, const std::vector<ExprPtr> &shape) {
  struct Row {
    MemorySpace space;
    TileLayout blayout, slayout;
    uint64_t fractal;
  };
  constexpr TileLayout kNone = TileLayout::none_box, kRow = TileLayout::row_major, kCol = TileLayout::col_major;
  static constexpr Row kRows[] = {
      {MemorySpace::Mat, kCol, kRow, 512},
      {MemorySpace::Left, kCol, kRow, 512},
      {MemorySpace::Right, kRow, kCol, 512},
      {MemorySpace::Acc, kCol, kRow, 1024},
      {MemorySpace::LeftScale, kRow, kRow, kScaleFractal},
      {MemorySpace::RightScale, kCol, kCol, kScaleFractal},
      {MemorySpace::Vec, kRow, kNone, 512},
      {MemorySpace::Bias, kRow, kNone, 512},
  };
  TileView view;
  for (const Row &row : kRows)
    if (row.space == space) {
      view.blayout = row.blayout;
      view.slayout = row.slayout;
      view.fractal = row.fractal;
    }
  bool oneRow = shape.size() == 2 && ConstantInt(shape[0]) == 1;
  bool oneColumn = shape.size() == 2 && ConstantInt(shape[1]) == 1 && !oneRow;
  if (space == MemorySpace::Vec && oneColumn)
    view.blayout = kCol;
  if (space == MemorySpace::Mat && oneRow) {
    view.blayout = kRow;
    view.slayout = kNone;
  }
  return view;
}

TileView TileViewOf(const TileType &type) {
  return type.tile_view_ ? *type.tile_view_
                         : DefaultTileView(type.GetMemorySpace().value_or(MemorySpace::Vec), type.shape_);
}

std::string ShapeText(const std::vector<ExprPtr> &shape) {
  std::string text = "[";
  for (const ExprPtr &extent : shape) {
    text += text.size() > 1 ? ", " : "";
    if (auto value = ConstantInt(extent))
      text += std::to_string(*value);
    else if (auto var = As<Var>(extent))
      text += var->name_hint_;
    else
      text += "?";
  }
  return text + "]";
}

std::optional<DataType> ElementTypeOf(const TypePtr &type) {
  if (auto scalar = As<ScalarType>(type))
    return scalar->dtype_;
  if (auto tensor = As<TensorType>(type))
    return tensor->dtype_;
  if (auto tile = As<TileType>(type))
    return tile->dtype_;
  return std::nullopt;
}

const std::vector<ExprPtr> *ShapeOf(const TypePtr &type) {
  if (IsA<TensorType>(type))
    return &static_cast<const TensorType &>(*type).shape_;
  if (IsA<TileType>(type))
    return &static_cast<const TileType &>(*type).shape_;
  return nullptr;
}

std::vector<ExprPtr> ConstantShape(const std::vector<int64_t> &shape) {
  std::vector<ExprPtr> extents;
  extents.reserve(shape.size());
  for (int64_t extent : shape)
    extents.push_back(std::make_shared<const ConstInt>(extent, DataType::INDEX, Span::unknown()));
  return extents;
}

} // namespace pypto::ir
