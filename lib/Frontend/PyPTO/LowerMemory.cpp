// Parameters, views of tensors, buffers of tiles.
#include "Extents.h"
#include "Lowering.h"

#include "../../Dialect/PTO/Transforms/Accesses.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "pto_mlir/Dialect/PTO/IR/Tiles.h"
#include "pto_mlir/Dialect/PTO/Transforms/LocalLimits.h"
#include "pto_mlir/Target/PTOText/PTOText.h"

using namespace mlir;

namespace pto_mlir::pypto_frontend {

/// Variables of a parameter's extents are more arguments, at the end.
void Lowering::addExtents(const ir::TypePtr &type, func::FuncOp func) {
  const std::vector<ir::ExprPtr> *shape = ir::ShapeOf(type);
  if (!shape)
    return;
  for (const ir::ExprPtr &extent : *shape)
    for (const ir::VarPtr &var : symbolsOf(extent))
      if (!values.count(var.get())) {
        func.insertArgument(func.getNumArguments(), b.getIndexType(), {}, loc);
        bind(var, func.getArguments().back());
      }
}

void Lowering::addParameters(const ir::FunctionPtr &function, func::FuncOp func) {
  MLIRContext &context = *b.getContext();
  std::vector<std::pair<ir::VarPtr, Value>> tensors;
  for (const ir::VarPtr &param : function->params_) {
    loc = locationOf(context, param->span_);
    Type type;
    if (auto tensor = ir::As<ir::TensorType>(param->type_))
      type = pointerType(context, *tensor);
    else if (auto scalar = ir::As<ir::ScalarType>(param->type_))
      type = elementType(context, scalar->dtype_);
    else
      fail(param->span_, "parameter " + param->name_hint_ + " of kernel " + function->name_ +
                             " must be a tensor or a scalar; a tile is made inside the kernel");
    func.insertArgument(func.getNumArguments(), type, {}, loc);
    Value value = func.getArguments().back();
    nameAfter(param, value);
    if (llvm::isa<pto::PtrType>(type)) {
      tensors.emplace_back(param, value);
    } else {
      if (auto integer = dyn_cast<IntegerType>(type); integer && !integer.isSignless())
        value = b.create<UnrealizedConversionCastOp>(loc, IntegerType::get(&context, integer.getWidth()), value)
                    .getResult(0);
      bind(param, value);
    }
  }
  for (const ir::VarPtr &param : function->params_)
    addExtents(param->type_, func);
  for (auto &[param, pointer] : tensors) {
    loc = locationOf(context, param->span_);
    bind(param, makeView(ir::As<ir::TensorType>(param->type_), pointer));
  }
}

Value Lowering::makeView(const ir::TensorTypePtr &type, Value pointer) {
  if (isScaleLayout(*type))
    return scaleView(*type, pointer);
  size_t rank = type->shape_.size();
  CHECK(rank >= 1 && rank <= 5) << "a tensor of a kernel has 1 to 5 axes, not " << int64_t(rank);
  SmallVector<Value> shape, strides(rank);
  for (const ir::ExprPtr &extent : type->shape_)
    shape.push_back(indexOf(extent));
  bool given = type->tensor_view_ && !type->tensor_view_->stride.empty();
  auto layout = type->tensor_view_ ? type->tensor_view_->layout : ir::TensorLayout::ND;
  bool column = options.layoutsOfSpaces && !given && layout == ir::TensorLayout::ND && rank == 2 &&
                ir::ConstantInt(type->shape_[1]) == 1 && ir::ConstantInt(type->shape_[0]) != 1;
  if (given) {
    for (size_t i = 0; i < rank; ++i)
      strides[i] = indexOf(type->tensor_view_->stride[i]);
  } else if (column) {
    strides = {indexConstant(1), shape[0]};
  } else {
    // The product of the extents behind each axis.
    for (size_t i = rank; i-- > 0;) {
      if (i + 1 == rank)
        strides[i] = nullptr; // one, which comes last among the constants
      else if (i + 2 == rank)
        strides[i] = shape[i + 1];
      else if (auto outer = getConstantIntValue(strides[i + 1]), inner = getConstantIntValue(shape[i + 1]);
               outer && inner)
        strides[i] = indexConstant(*outer * *inner);
      else
        strides[i] = views.create<arith::MulIOp>(loc, strides[i + 1], shape[i + 1]);
    }
    strides[rank - 1] = indexConstant(1);
  }
  SmallVector<int64_t> unknown(rank, ShapedType::kDynamic);
  auto viewType = pto::TensorViewType::get(unknown, elementType(*b.getContext(), type->dtype_));
  auto view = views.create<pto::MakeTensorViewOp>(loc, viewType, pointer, shape, strides);
  if (column || layout == ir::TensorLayout::DN)
    view.setLayoutAttr(pto::LayoutAttr::get(b.getContext(), pto::Layout::dn));
  else if (layout == ir::TensorLayout::NZ)
    view.setLayoutAttr(pto::LayoutAttr::get(b.getContext(), pto::Layout::nz));
  return view;
}

/// The memory of a view as a tensor of another shape or layout.
Value Lowering::viewAgain(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &var) {
  auto view = valueOf(call.Operand("tensor")).getDefiningOp<pto::MakeTensorViewOp>();
  auto type = ir::As<ir::TensorType>(var ? var->type_ : op->type_);
  if (!view || !type)
    fail(op->span_, "tensor.view is lowered for a parameter");
  return makeView(type, view.getPtr());
}

/// The address that a tile's MemRef says, as a constant before the tiles; null where it says none.
Value Lowering::addressOf(const ir::TileTypePtr &type, pto::TileBufType tile) {
  if (!type->memref_ || !options.addresses || !(*type->memref_)->addr_)
    return nullptr;
  const ir::MemRef &memref = **type->memref_;
  auto address = ir::ConstantInt(memref.addr_);
  CHECK(address) << "the address of a MemRef must be a constant; leave it out to have it planned";
  CHECK(memref.slots_ == 1) << "a MemRef with an address has one slot, not " << memref.slots_;
  pto::LocalLimit limit = pto::getLocalLimit(processor(), static_cast<unsigned>(tile.getLoc()));
  int64_t bytes = pto::getPaddedTileBytes(tile);
  CHECK(*address >= 0 && *address % 32 == 0) << "the address of a MemRef is a multiple of 32, not " << *address;
  CHECK(*address + bytes <= limit.bytes) << "a tile of " << bytes << " bytes at " << *address << " lies outside of "
                                         << pto::stringifyAddressSpace(tile.getLoc()).str() << ", which has "
                                         << limit.bytes << " bytes";
  return constant(b.getI64IntegerAttr(*address), b.getI64Type());
}

/// The tile that `tile` is all of, with another valid extent.
static Value wholeOf(Value tile) {
  for (auto view = tile.getDefiningOp<pto::SubViewOp>(); view && isWhole(view);
       view = tile.getDefiningOp<pto::SubViewOp>())
    tile = view.getSource();
  return tile;
}

/// Whether two tiles are one place in memory.
bool Lowering::sameBytes(Value a, Value b) const {
  auto place = [](Value tile) {
    auto alloc = tile.getDefiningOp<pto::AllocTileOp>();
    return alloc && alloc.getAddr() ? getConstantIntValue(alloc.getAddr()) : std::nullopt;
  };
  auto box = [](Value tile) {
    return cast<pto::TileBufType>(tile.getType()).withValid(ShapedType::kDynamic, ShapedType::kDynamic);
  };
  if (a == b)
    return true;
  if (!mlir::isa<pto::TileBufType>(a.getType()) || !mlir::isa<pto::TileBufType>(b.getType()) || box(a) != box(b))
    return false;
  a = wholeOf(a), b = wholeOf(b);
  return a == b || (place(a) && place(a) == place(b));
}

Value Lowering::buffer(const ir::TileTypePtr &type, const void *owner) {
  pto::TileBufType tile = tileType(*b.getContext(), *type, options);
  Value address = addressOf(type, tile);
  if (ir::MemRefPtr own = type->OwnBuffer(); own && !(address && options.names))
    owner = own.get();
  Value &found = buffers[{owner, tile.getAsOpaquePointer()}];
  if (found)
    return found;
  if (options.slots && !address && type->memref_ && (*type->memref_)->slot_)
    return found = slotOf(**type->memref_, tile);
  pto::AllocTileOp alloc = allocate(tile, address);
  if (saysNoBox(*type))
    alloc->setAttr(ptotext::kNoBoxAttr, b.getUnitAttr());
  return found = alloc;
}

pto::AllocTileOp Lowering::allocate(pto::TileBufType type, Value address) {
  Value rows = type.hasDynamicValidRows() ? indexConstant(type.getRows()) : Value();
  Value cols = type.hasDynamicValidCols() ? indexConstant(type.getCols()) : Value();
  auto alloc = tiles.create<pto::AllocTileOp>(loc, type, address, rows, cols);
  if (!address && !options.names)
    tilesOfTurns.emplace_back(alloc, turn);
  return alloc;
}

/// The body of the innermost loop that holds all users of the tile; null where there is none.
static Block *loopAround(Operation *alloc) {
  Block *home = alloc->use_empty() ? nullptr : alloc->user_begin()->getBlock();
  auto up = [&] { home = home->getParentOp()->getBlock(); };
  while (home && !llvm::all_of(alloc->getUsers(), [&](Operation *user) { return home->findAncestorOpInBlock(*user); }))
    up();
  while (home && home != alloc->getBlock() && !isa<LoopLikeOpInterface>(home->getParentOp()))
    up();
  return home == alloc->getBlock() ? nullptr : home;
}

/// A tile that lives in a turn of a loop only is allocated there: the others of the turn may then have its memory
/// before and behind it. In a turn of a pipeline `pto-multi-buffer` may give it two buffers, so that the next turn
/// fills one while this turn still reads the other.
void Lowering::placeTilesOfTurns() {
  for (auto [alloc, pipeline] : tilesOfTurns) {
    Block *body = pipeline;
    if (!body ||
        !llvm::all_of(alloc->getUsers(), [&](Operation *user) { return body->findAncestorOpInBlock(*user); })) {
      body = loopAround(alloc);
      if (!body)
        continue;
      alloc->setAttr(pto::kBuffersAttr, b.getI32IntegerAttr(1));
    }
    alloc->moveBefore(&body->front());
  }
}

void Lowering::setValid(Value tile, const ir::TileType &type) {
  auto held = cast<pto::TileBufType>(tile.getType());
  if (held.hasStaticValid() || !type.tile_view_ || type.tile_view_->valid_shape.size() < 2)
    return;
  CHECK(type.tile_view_->valid_shape.size() == 2) << "a valid extent known at run time needs two axes";
  Value rows = indexOf(type.tile_view_->valid_shape[0]), cols = indexOf(type.tile_view_->valid_shape[1]);
  b.create<pto::SetValidShapeOp>(loc, tile, rows, cols);
}

/// Notes that the result of `by` now lies where the operand lay, which nobody may read any more.
void Lowering::takeOver(const ir::ExprPtr &operand, const std::string &by) {
  auto var = ir::As<ir::Var>(operand);
  if (!var)
    return;
  Block *home = boundIn.lookup(var.get());
  for (Block *block = b.getBlock(); block && block != home; block = block->getParentOp()->getBlock())
    if (llvm::isa<scf::ForOp, scf::WhileOp>(block->getParentOp()))
      fail(operand->span_, by + " replaces " + var->name_hint_ + " in each iteration; let the loop carry it");
  replaced[var.get()] = by;
  --holders[pto::getAliasRoot(values.lookup(var.get()))];
}

Value Lowering::destination(const ir::Call &call, const ir::VarPtr &var) {
  auto type = ir::As<ir::TileType>(var ? var->type_ : call.type_);
  if (!type)
    fail(call.span_, "the result of " + call.op_->name_ + " must be a tile");
  Value tile = var ? wanted.lookup(var.get()) : Value();
  if (!tile || type->OwnBuffer())
    tile = buffer(type, var ? static_cast<const void *>(var.get()) : &call);
  setValid(tile, *type);
  return tile;
}

Value Lowering::window(Value view, const std::vector<ir::ExprPtr> &offsets, std::vector<ir::ExprPtr> sizes) {
  auto type = cast<pto::TensorViewType>(view.getType());
  size_t rank = type.getRank();
  CHECK(offsets.size() == rank) << "a window of a tensor of " << int64_t(rank) << " axes needs as many offsets, not "
                                << int64_t(offsets.size());
  CHECK(sizes.size() <= rank) << "a window of " << int64_t(sizes.size()) << " axes in a tensor of " << int64_t(rank);
  auto one = std::make_shared<const ir::ConstInt>(1, pypto::DataType::INDEX, ir::Span::unknown());
  sizes.insert(sizes.begin(), rank - sizes.size(), one);
  SmallVector<Value> begin, extent;
  SmallVector<int64_t> shape;
  for (const ir::ExprPtr &offset : offsets)
    begin.push_back(indexOf(offset));
  for (const ir::ExprPtr &size : sizes) {
    extent.push_back(indexOf(size));
    shape.push_back(ir::ConstantInt(size).value_or(ShapedType::kDynamic));
  }
  return b.create<pto::PartitionViewOp>(loc, pto::PartitionTensorViewType::get(shape, type.getElementType()), view,
                                        begin, extent);
}

/// Elements before `indices` when each axis but the last counts the elements behind it.
Value Lowering::flatIndex(ValueRange strides, const std::vector<ir::ExprPtr> &indices) {
  CHECK(strides.size() == indices.size())
      << int64_t(strides.size()) << " indices are needed, not " << int64_t(indices.size());
  Value sum;
  for (auto [stride, index] : llvm::zip_equal(strides, indices)) {
    Value part = indexOf(index);
    if (getConstantIntValue(stride) != 1)
      part = b.create<arith::MulIOp>(loc, part, stride);
    sum = sum ? b.create<arith::AddIOp>(loc, sum, part).getResult() : part;
  }
  return sum;
}

} // namespace pto_mlir::pypto_frontend
