// What a kernel does with the copies of other ranks: loads, stores, copies, signal cells.
#include "Lowering.h"
#include "TileNodes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "pto_mlir/Dialect/PTO/IR/Tiles.h"

using namespace mlir;

namespace pto_mlir::pypto_frontend {

std::string nameOf(const ir::ExprPtr &tensor) {
  auto var = ir::As<ir::Var>(tensor);
  return var ? var->name_hint_ : "the tensor";
}

Value pointerOf(Value view) { return view.getDefiningOp<pto::MakeTensorViewOp>().getPtr(); }

namespace {

/// An axis that two views have in common.
struct Axis {
  int64_t extent;
  Value from, to; ///< strides

  bool continues(const Axis &inner) const {
    auto product = [&](Value outer, Value stride) {
      auto a = getConstantIntValue(outer), b = getConstantIntValue(stride);
      return a && b && *a == *b * inner.extent;
    };
    return product(from, inner.from) && product(to, inner.to);
  }
};

/// The axes that have several elements, those that lie one behind the other as one; at least rows and columns.
SmallVector<Axis> joined(ArrayRef<Axis> all, Value one) {
  SmallVector<Axis> axes;
  for (const Axis &axis : all) {
    if (axis.extent == 1)
      continue;
    if (!axes.empty() && axes.back().continues(axis))
      axes.back() = {axes.back().extent * axis.extent, axis.from, axis.to};
    else
      axes.push_back(axis);
  }
  auto isDense = [](const Axis &axis) {
    return getConstantIntValue(axis.from) == 1 && getConstantIntValue(axis.to) == 1;
  };
  if (axes.empty() || !isDense(axes.back()))
    axes.push_back({1, one, one});
  if (axes.size() == 1)
    axes.insert(axes.begin(), {1, one, one});
  return axes;
}

} // namespace

/// The copy of a rank.
Value Lowering::peersView(const ir::ExprPtr &tensor, Value peer) {
  Value view = valueOf(tensor);
  auto found = copies.find(view);
  if (found == copies.end())
    fail(tensor->span_, nameOf(tensor) + " has no copies of other ranks here; declare it as pld.DistributedTensor and "
                                         "pass a pld.window of the host level");
  auto own = view.getDefiningOp<pto::MakeTensorViewOp>();
  Value distance = b.create<arith::MulIOp>(loc, peer, indexConstant(found->second.pitch));
  Value pointer = b.create<pto::AddPtrOp>(loc, found->second.first, distance);
  auto made = b.create<pto::MakeTensorViewOp>(loc, own.getType(), pointer, own.getShape(), own.getStrides());
  if (own.getLayoutAttr())
    made.setLayoutAttr(own.getLayoutAttr());
  return made;
}

Value Lowering::cellOf(Value pointer, Value element) {
  Type type = cast<pto::PtrType>(pointer.getType()).getElementType();
  CHECK(type.isInteger(32)) << "signal cells are INT32";
  Value one = indexConstant(1), at = b.create<pto::AddPtrOp>(loc, pointer, element);
  auto view = b.create<pto::MakeTensorViewOp>(loc, pto::TensorViewType::get({ShapedType::kDynamic}, type), at,
                                              ValueRange{one}, ValueRange{one});
  return b.create<pto::PartitionViewOp>(loc, pto::PartitionTensorViewType::get({1}, type), view,
                                        ValueRange{indexConstant(0)}, ValueRange{one});
}

void Lowering::notifyCell(Value cell, Value value, bool adds) {
  b.create<pto::TNotifyOp>(loc, cell, value, adds ? pto::NotifyOp::atomic_add : pto::NotifyOp::set);
}

void Lowering::waitForCell(Value cell, Value value, bool orMore) {
  b.create<pto::TWaitOp>(loc, cell, value, orMore ? pto::WaitCmp::ge : pto::WaitCmp::eq);
}

Value Lowering::context(const ir::OpView &call, const ir::CallPtr &, const ir::VarPtr &) {
  return valueOf(call.Operand("tensor"));
}

Value Lowering::rankNumber(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &) {
  auto window = copies.find(valueOf(call.Operand("ctx")));
  if (window == copies.end())
    fail(op->span_, nameOf(call.Operand("ctx")) + " is no window of the host level, so there is no rank here; declare "
                                                  "a pld.DistributedTensor and pass a pld.window");
  if (call.row()->name == "comm.nranks")
    return constant(b.getI32IntegerAttr(int32_t(groups[window->second.group].ranks)), b.getI32Type());
  return convert(groups[window->second.group].rank, b.getI32Type(), true);
}

Value Lowering::notify(const ir::OpView &call, const ir::CallPtr &, const ir::VarPtr &) {
  Value view = peersView(call.Operand("target"), indexOf(call.Operand("peer")));
  auto strides = view.getDefiningOp<pto::MakeTensorViewOp>().getStrides();
  Value cell = cellOf(pointerOf(view), flatIndex(strides, call.Elements("offsets")));
  notifyCell(cell, scalarOf(call.Operand("value"), b.getI32Type()),
             call.Enum<ir::NotifyOp>("op") == ir::NotifyOp::AtomicAdd);
  return nullptr;
}

Value Lowering::wait(const ir::OpView &call, const ir::CallPtr &, const ir::VarPtr &) {
  auto view = valueOf(call.Operand("signal")).getDefiningOp<pto::MakeTensorViewOp>();
  Value cell = cellOf(view.getPtr(), flatIndex(view.getStrides(), call.Elements("offsets")));
  waitForCell(cell, scalarOf(call.Operand("expected"), b.getI32Type()),
              call.Enum<ir::WaitCmp>("cmp") == ir::WaitCmp::Ge);
  return nullptr;
}

Value Lowering::remoteLoad(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &var) {
  auto type = ir::As<ir::TileType>(op->type_);
  bool cut = type && type->tile_view_ && !type->tile_view_->valid_shape.empty();
  std::vector<ir::ExprPtr> sizes = cut ? type->tile_view_->valid_shape : call.Elements("shape");
  Value view = peersView(call.Operand("target"), indexOf(call.Operand("peer")));
  Value tile = destination(*op, var);
  b.create<pto::TLoadOp>(loc, window(view, call.Elements("offsets"), sizes), tile);
  return tile;
}

Value Lowering::remoteStore(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &) {
  ir::ExprPtr source = call.Operand("tile");
  auto type = ir::As<ir::TileType>(source->type_);
  if (!type)
    fail(op->span_, "remote_store writes a tile, or what the kernel has computed; " + nameOf(source) +
                        " is neither: copy tensors with pld.tensor.put");
  Value tile = valueOf(source), view = peersView(call.Operand("target"), indexOf(call.Operand("peer")));
  bool cut = type->tile_view_ && !type->tile_view_->valid_shape.empty();
  auto sizes = cut ? type->tile_view_->valid_shape : type->shape_;
  auto move = b.create<pto::TStoreOp>(loc, tile, window(view, call.Elements("offsets"), sizes));
  if (call.Enum<ir::AtomicType>("atomic") == ir::AtomicType::Add)
    move.setAtomicType(pto::AtomicType::atomic_add);
  return nullptr;
}

Value Lowering::put(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &) {
  Value to = peersView(call.Operand("dst"), indexOf(call.Operand("peer"))), from = valueOf(call.Operand("src"));
  copyWindow(call, op, from, to);
  return valueOf(call.Operand("dst"));
}

Value Lowering::get(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &) {
  Value from = peersView(call.Operand("src"), indexOf(call.Operand("peer"))), to = valueOf(call.Operand("dst"));
  copyWindow(call, op, from, to);
  return to;
}

/// The `rows` x `cols` elements at `pointer`, with these distances between them.
Value Lowering::matrixView(Value pointer, int64_t rows, int64_t cols, Value rowStride, Value colStride) {
  Type element = cast<pto::PtrType>(pointer.getType()).getElementType();
  SmallVector<int64_t> unknown(2, ShapedType::kDynamic);
  SmallVector<Value> sizes{indexConstant(rows), indexConstant(cols)}, none(2, indexConstant(0));
  Value view = b.create<pto::MakeTensorViewOp>(loc, pto::TensorViewType::get(unknown, element), pointer, sizes,
                                               ValueRange{rowStride, colStride});
  return b.create<pto::PartitionViewOp>(loc, pto::PartitionTensorViewType::get({rows, cols}, element), view, none,
                                        sizes);
}

/// A copy in global memory, chunk by chunk through a tile.
void Lowering::copyWindow(const ir::OpView &call, const ir::CallPtr &op, Value from, Value to) {
  auto source = from.getDefiningOp<pto::MakeTensorViewOp>(), target = to.getDefiningOp<pto::MakeTensorViewOp>();
  const std::vector<ir::ExprPtr> &whole = *ir::ShapeOf(call.Operand("src")->type_);
  std::vector<ir::ExprPtr> shape = call.Elements("shape"),
                           at[2] = {call.Elements("src_offsets"), call.Elements("dst_offsets")};
  shape = shape.empty() ? whole : shape;
  Value pointers[2];
  for (int side = 0; side < 2; ++side) {
    auto view = side == 0 ? source : target;
    if (view.getStrides().size() != shape.size() ||
        view.getType().getElementType() != source.getType().getElementType())
      fail(op->span_, op->op_->name_ + " copies between tensors of one element type and as many axes");
    auto offsets = at[side].empty() ? zeros(shape.size()) : at[side];
    pointers[side] = b.create<pto::AddPtrOp>(loc, view.getPtr(), flatIndex(view.getStrides(), offsets));
  }
  SmallVector<Axis> all;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    auto extent = ir::ConstantInt(shape[axis]);
    if (!extent)
      fail(op->span_, op->op_->name_ + " of an extent known at run time is not lowered yet; give shape= as numbers");
    all.push_back({*extent, source.getStrides()[axis], target.getStrides()[axis]});
  }
  Value one = indexConstant(1);
  SmallVector<Axis> axes = joined(all, one);
  Type element = source.getType().getElementType();
  int64_t bytes = pto::getElementBits(element) / 8, align = 32 / std::max<int64_t>(bytes, 1);
  if (bytes < 1)
    fail(op->span_, op->op_->name_ + " of elements smaller than a byte is not lowered yet");
  // A chunk's tile takes at most 32 KiB unless the program says its size.
  constexpr int64_t room = 32 << 10;
  const Axis &rows = axes[axes.size() - 2], &cols = axes.back();
  int64_t wantedCols = *call.Keyword<int64_t>("chunk_cols"), wantedRows = *call.Keyword<int64_t>("chunk_rows");
  int64_t width = std::min(cols.extent, wantedCols > 0 ? wantedCols : room / bytes);
  int64_t padded = llvm::alignTo(uint64_t(width), uint64_t(align));
  int64_t height = std::min(rows.extent, wantedRows > 0 ? wantedRows : std::max<int64_t>(room / (padded * bytes), 1));
  int64_t parts = llvm::divideCeil(uint64_t(rows.extent), uint64_t(height)) *
                  llvm::divideCeil(uint64_t(cols.extent), uint64_t(width));
  for (const Axis &axis : ArrayRef(axes).drop_back(2))
    parts = std::min<int64_t>(parts * std::min<int64_t>(axis.extent, 1 << 20), 1 << 20);
  if (parts > 256)
    fail(op->span_, op->op_->name_ + " would copy more than 256 parts; copy fewer elements, or larger chunks");
  for (int64_t part = 0; part < parts; ++part) {
    int64_t rest = part, column = 0, row = 0;
    auto take = [&](int64_t extent, int64_t step) {
      int64_t count = llvm::divideCeil(uint64_t(extent), uint64_t(step)), index = rest % count;
      rest /= count;
      return index * step;
    };
    column = take(cols.extent, width);
    row = take(rows.extent, height);
    int64_t high = std::min(height, rows.extent - row), wide = std::min(width, cols.extent - column);
    Value views[2];
    for (int side = 0; side < 2; ++side) {
      auto strideOf = [&](const Axis &axis) { return side == 0 ? axis.from : axis.to; };
      int64_t left = rest;
      Value moved = b.create<arith::MulIOp>(loc, strideOf(cols), indexConstant(column));
      auto add = [&](const Axis &axis, int64_t index) {
        Value distance = b.create<arith::MulIOp>(loc, strideOf(axis), indexConstant(index));
        moved = b.create<arith::AddIOp>(loc, moved, distance);
      };
      add(rows, row);
      for (size_t axis = axes.size() - 2; axis-- > 0; left /= axes[axis].extent)
        add(axes[axis], left % axes[axis].extent);
      Value pointer = b.create<pto::AddPtrOp>(loc, pointers[side], moved);
      views[side] = matrixView(pointer, high, wide, strideOf(rows), strideOf(cols));
    }
    Value tile = scratch(pto::makeVecTile(b.getContext(), height, padded, element, high, wide));
    b.create<pto::TLoadOp>(loc, views[0], tile);
    auto move = b.create<pto::TStoreOp>(loc, tile, views[1]);
    if (call.row()->Find("atomic") >= 0 && call.Enum<ir::AtomicType>("atomic") == ir::AtomicType::Add)
      move.setAtomicType(pto::AtomicType::atomic_add);
  }
}

/// Signals are given and waited for once: by the cube core where the kernel is one of products, else by the first
/// vector core.
void Lowering::placeSignals(const ir::Function &function, func::FuncOp func) {
  bool signals = false, onCube = false, onVector = false;
  func.walk([&](Operation *op) {
    signals |= llvm::isa<pto::TNotifyOp, pto::TWaitOp>(op);
    if (auto alloc = dyn_cast<pto::AllocTileOp>(op))
      (alloc.getTileType().getLoc() == pto::AddressSpace::vec ? onVector : onCube) = true;
  });
  if (!signals || func->hasAttr(pto::kKernelKindAttr))
    return;
  if (onCube && onVector)
    fail(function.span_, function.name_ +
                             ": notify and wait in a kernel of both kinds of core are not lowered yet; put "
                             "them into a kernel of one kind");
  auto kind = onCube ? pto::KernelKind::cube : pto::KernelKind::vector;
  func->setAttr(pto::kKernelKindAttr, pto::KernelKindAttr::get(func.getContext(), kind));
}

} // namespace pto_mlir::pypto_frontend
