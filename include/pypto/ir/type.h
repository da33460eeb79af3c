// Types: what a variable or an expression holds.
#ifndef PYPTO_IR_TYPE_H
#define PYPTO_IR_TYPE_H

#include "pypto/ir/memref.h"

namespace pypto::ir {

class Type : public Node {
  PYPTO_ABSTRACT_NODE(Type, Node, UnknownType, AsyncSessionType)
};

/// The type of a call that gives nothing, and of what nobody has deduced yet.
class UnknownType final : public Type {
public:
  /// The only one.
  static TypePtr Get();

  template <class F> static void Fields(F &&) {}
  PYPTO_NODE(UnknownType, Type)
  void Finish() {}
};

class ScalarType final : public Type {
public:
  DataType dtype_;

  explicit ScalarType(DataType dtype);

  template <class F> static void Fields(F &&f) { f("dtype", &ScalarType::dtype_, kPlain); }
  PYPTO_NODE(ScalarType, Type)
  void Finish() {}
};

/// How a tensor lies in global memory where it is not row-major and whole.
struct TensorView {
  std::vector<ExprPtr> stride; ///< elements; empty: row-major
  TensorLayout layout = TensorLayout::ND;
  std::vector<ExprPtr> valid_shape; ///< empty: all of it
  PadValue pad = PadValue::null;

  template <class F> static void Fields(F &&f) {
    f("stride", &TensorView::stride, kOptional);
    f("layout", &TensorView::layout, kOptional);
    f("valid_shape", &TensorView::valid_shape, kOptional);
    f("pad", &TensorView::pad, kOptional);
  }
};

/// How a tile lies in its buffer, and how much of it holds data.
struct TileView {
  std::vector<ExprPtr> valid_shape; ///< empty: all of it
  std::vector<ExprPtr> stride;
  ExprPtr start_offset; ///< null: none
  TileLayout blayout = TileLayout::row_major;
  TileLayout slayout = TileLayout::none_box;
  uint64_t fractal = 512; ///< bytes of a box
  PadValue pad = PadValue::null;
  CompactMode compact = CompactMode::null;

  template <class F> static void Fields(F &&f) {
    f("valid_shape", &TileView::valid_shape, kOptional);
    f("stride", &TileView::stride, kOptional);
    f("start_offset", &TileView::start_offset, kOptional);
    f("blayout", &TileView::blayout, kOptional);
    f("slayout", &TileView::slayout, kOptional);
    f("fractal", &TileView::fractal, kOptional);
    f("pad", &TileView::pad, kOptional);
    f("compact", &TileView::compact, kOptional);
  }
};

/// An array in global memory. Extents are integer expressions: constants, or variables known at run time.
class TensorType : public Type {
public:
  std::vector<ExprPtr> shape_;
  DataType dtype_;
  std::optional<MemRefPtr> memref_;
  std::optional<TensorView> tensor_view_;

  TensorType(std::vector<ExprPtr> shape, DataType dtype, std::optional<MemRefPtr> memref = std::nullopt,
             std::optional<TensorView> tensor_view = std::nullopt);
  TensorType(const std::vector<int64_t> &shape, DataType dtype);

  template <class F> static void Fields(F &&f) {
    f("shape", &TensorType::shape_, kPlain);
    f("dtype", &TensorType::dtype_, kPlain);
    f("memref", &TensorType::memref_, kOptional);
    f("tensor_view", &TensorType::tensor_view_, kOptional);
  }
  PYPTO_BASE_NODE(TensorType, Type, DistributedTensorType)
  void Finish();
};

/// A window of symmetric memory: one copy per rank.
class DistributedTensorType final : public TensorType {
public:
  DistributedTensorType(std::vector<ExprPtr> shape, DataType dtype);

  PYPTO_NODE(DistributedTensorType, TensorType)
};

/// An array in a core's local memory.
class TileType final : public Type {
public:
  std::vector<ExprPtr> shape_;
  DataType dtype_;
  std::optional<MemRefPtr> memref_;
  std::optional<TileView> tile_view_;
  std::optional<MemorySpace> memory_space_;

  TileType(std::vector<ExprPtr> shape, DataType dtype, std::optional<MemRefPtr> memref = std::nullopt,
           std::optional<TileView> tile_view = std::nullopt, std::optional<MemorySpace> memory_space = std::nullopt);
  TileType(const std::vector<int64_t> &shape, DataType dtype);

  /// `memory_space_`, else its MemRef's.
  std::optional<MemorySpace> GetMemorySpace() const;
  /// The buffer that it says it lies in; null where it says none, and for a slot, which is placed as other tiles are.
  MemRefPtr OwnBuffer() const;

  template <class F> static void Fields(F &&f) {
    f("shape", &TileType::shape_, kPlain);
    f("dtype", &TileType::dtype_, kPlain);
    f("memref", &TileType::memref_, kOptional);
    f("tile_view", &TileType::tile_view_, kOptional);
    f("memory_space", &TileType::memory_space_, kOptional);
  }
  PYPTO_NODE(TileType, Type)
  void Finish();
};

/// A fixed number of scalars in a kernel or an orchestrator.
class ArrayType final : public Type {
public:
  DataType dtype_;
  ExprPtr extent_;

  ArrayType(DataType dtype, ExprPtr extent);

  template <class F> static void Fields(F &&f) {
    f("dtype", &ArrayType::dtype_, kPlain);
    f("extent", &ArrayType::extent_, kPlain);
  }
  PYPTO_NODE(ArrayType, Type)
  void Finish();
};

class TupleType final : public Type {
public:
  std::vector<TypePtr> types_;

  explicit TupleType(std::vector<TypePtr> types);

  template <class F> static void Fields(F &&f) { f("types", &TupleType::types_, kPlain); }
  PYPTO_NODE(TupleType, Type)
  void Finish();
};

/// An address in global memory.
class PtrType final : public Type {
public:
  DataType dtype_;

  explicit PtrType(DataType dtype);

  template <class F> static void Fields(F &&f) { f("dtype", &PtrType::dtype_, kPlain); }
  PYPTO_NODE(PtrType, Type)
  void Finish() {}
};

/// Handles of prefetches that run beside a kernel: names in annotations, without fields.
#define PYPTO_HANDLE(Name)                                                                                             \
  class Name final : public Type {                                                                                     \
  public:                                                                                                              \
    template <class F> static void Fields(F &&) {}                                                                     \
    PYPTO_NODE(Name, Type)                                                                                             \
    void Finish() {}                                                                                                   \
  };
PYPTO_HANDLE(PrefetchAsyncContextType)
PYPTO_HANDLE(AsyncEventType)
PYPTO_HANDLE(AsyncSessionType)
#undef PYPTO_HANDLE

/// Scales of block-scaled products (MX): elements along k that share one; the bytes of a box of them in memory.
inline constexpr int64_t kScaleGroup = 32;
inline constexpr uint64_t kScaleFractal = 32;

/// How a tile of that shape lies in a memory space unless its type says otherwise.
TileView DefaultTileView(MemorySpace space, const std::vector<ExprPtr> &shape);
/// The view of a tile's type, else the default of its space (Vec where it has none).
TileView TileViewOf(const TileType &type);
/// "[32, N]" for messages; "?" for an extent that is no constant or variable.
std::string ShapeText(const std::vector<ExprPtr> &shape);

/// The element type of a scalar, tensor or tile.
std::optional<DataType> ElementTypeOf(const TypePtr &type);
/// The shape of a tensor or tile; null for others. Valid as long as the type.
const std::vector<ExprPtr> *ShapeOf(const TypePtr &type);
/// Constants of type INDEX.
std::vector<ExprPtr> ConstantShape(const std::vector<int64_t> &shape);

} // namespace pypto::ir

#endif // PYPTO_IR_TYPE_H
