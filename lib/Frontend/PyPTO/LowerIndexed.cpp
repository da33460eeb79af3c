// Rows and elements of global memory at indices that are read at run time: loops of loads.
#include "Lowering.h"
#include "TileNodes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "pto_mlir/Dialect/PTO/IR/Tiles.h"

using namespace mlir;

namespace pto_mlir::pypto_frontend {

/// Element `at` (row by row) of indices in a tile or in global memory.
Value Lowering::indexAt(const ir::ExprPtr &indices, ValueRange at) {
  Value source = valueOf(indices);
  Type type = scalarType(*b.getContext(), *ir::ElementTypeOf(indices->type_));
  SmallVector<Value> strides;
  if (auto view = source.getDefiningOp<pto::MakeTensorViewOp>()) {
    strides = view.getStrides();
  } else {
    strides = elementStrides(cast<pto::TileBufType>(source.getType()));
  }
  Value offset;
  for (auto [position, stride] : llvm::zip_equal(at, ValueRange(strides).take_back(at.size()))) {
    Value part = getConstantIntValue(stride) == 1 ? position : b.create<arith::MulIOp>(loc, position, stride);
    offset = offset ? b.create<arith::AddIOp>(loc, offset, part).getResult() : part;
  }
  Value read =
      source.getDefiningOp<pto::MakeTensorViewOp>()
          ? b.create<pto::LoadScalarOp>(loc, type, source.getDefiningOp<pto::MakeTensorViewOp>().getPtr(), offset)
                .getResult()
          : b.create<pto::TGetValOp>(loc, type, source, offset).getResult();
  return convert(read, b.getIndexType(), false); // without its sign: -1 is a great index
}

/// The index within `count`, as the mode says; `inside` is set where what lies outside is zero.
Value Lowering::boundedIndex(Value index, Value count, StringRef mode, Value &inside) {
  if (mode == "undefined")
    return index;
  if (mode == "wrap")
    return floorMod(index, count);
  if (mode == "zero") {
    inside = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, index, count);
    return index;
  }
  return b.create<arith::MinSIOp>(loc, index, b.create<arith::SubIOp>(loc, count, indexConstant(1)));
}

/// Runs `body` for each index below the bounds.
void Lowering::forEach(ValueRange bounds, llvm::function_ref<void(ValueRange)> body) {
  OpBuilder::InsertionGuard guard(b);
  SmallVector<Value> at;
  for (Value bound : bounds) {
    auto loop = b.create<scf::ForOp>(loc, indexConstant(0), bound, indexConstant(1));
    at.push_back(loop.getInductionVar());
    b.setInsertionPointToStart(loop.getBody());
  }
  body(at);
}

/// A tensor that an operation with indices accesses in global memory.
pto::MakeTensorViewOp Lowering::memoryOf(const ir::ExprPtr &tensor, const ir::CallPtr &op) {
  auto view = valueOf(tensor).getDefiningOp<pto::MakeTensorViewOp>();
  if (!view)
    fail(op->span_, op->op_->name_ + " takes a tensor as the kernel gets it; make views of it before the scope");
  return view;
}

/// Rows of src in place of rows of a tile, whose numbers are read at run time.
Value Lowering::scatterRows(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &var) {
  auto dim = ir::ConstantInt(call.Operand("dim"));
  if (dim != -2 && dim != 0)
    fail(op->span_, "scatter_update is lowered along rows, with dim=-2");
  Value source = valueOf(call.Operand("src"));
  ir::ExprPtr indices = call.Operand("index");
  auto type = cast<pto::TileBufType>(source.getType());
  auto held = ir::As<ir::TileType>(indices->type_);
  bool ragged = held && held->tile_view_ && !held->tile_view_->valid_shape.empty();
  const auto &shape = ragged ? held->tile_view_->valid_shape : *ir::ShapeOf(indices->type_);
  Value target = changeable(call.Operand("input"), op, var);
  auto whole = cast<pto::TileBufType>(target.getType());
  if (shape.size() != 2 || whole.isBoxed() || type.isBoxed() || type.getCols() != whole.getCols())
    fail(op->span_, "scatter_update is lowered for indices of two axes and rows as long as the tile's");
  auto rowOf = [&](Value tile, pto::TileBufType of, Value row) -> Value {
    return b.create<pto::SubViewOp>(loc, of.withShape(1, of.getCols()).withValid(1, of.getValidCols()), tile,
                                    ValueRange{row, indexConstant(0)}, Value(), Value(),
                                    b.getI64ArrayAttr({1, of.getCols()}));
  };
  Value width = indexOf(shape[1]);
  forEach({indexOf(shape[0]), width}, [&](ValueRange at) {
    Value row = b.create<arith::AddIOp>(loc, b.create<arith::MulIOp>(loc, at[0], width), at[1]);
    b.create<pto::TMovOp>(loc, rowOf(source, type, row), rowOf(target, whole, indexAt(indices, at)));
  });
  return target;
}

/// Elements into Mat, which takes no single ones: they are laid side by side in the scratch and loaded from there.
Value Lowering::gatherThroughMemory(const ir::OpView &call, const ir::CallPtr &op, Value dst,
                                    const std::vector<ir::ExprPtr> &valid) {
  auto view = memoryOf(call.Operand("mem"), op);
  ir::ExprPtr scratch = call.Operand("scratch"), indices = call.Operand("idx");
  auto height = getConstantIntValue(indexOf(valid[0])), width = getConstantIntValue(indexOf(valid[1]));
  if (!scratch || !height || !width || elementsOf(scratch) < *height * *width)
    fail(op->span_, "mgather of elements into Mat needs a scratch in global memory that holds all of them");
  Value room = pointerOf(valueOf(scratch)), count = view.getShape()[0];
  Type element = view.getType().getElementType();
  if (cast<pto::PtrType>(room.getType()).getElementType() != element || view.getShape().size() != 1)
    fail(op->span_, "mgather of elements needs one axis, and a scratch of the same elements");
  if (auto integer = dyn_cast<IntegerType>(element))
    element = b.getIntegerType(integer.getWidth());
  std::string mode = *call.Keyword<std::string>("gather_oob");
  forEach(ValueRange{indexConstant(*height), indexConstant(*width)}, [&](ValueRange at) {
    Value offset = b.create<arith::AddIOp>(loc, b.create<arith::MulIOp>(loc, at[0], indexConstant(*width)), at[1]);
    Value inside;
    Value index = boundedIndex(indexAt(indices, at), count, mode, inside);
    if (inside) {
      auto branch = b.create<scf::IfOp>(loc, inside, true);
      b.setInsertionPointToStart(branch.elseBlock());
      auto zero = mlir::isa<FloatType>(element) ? TypedAttr(b.getFloatAttr(element, 0))
                                                : TypedAttr(b.getIntegerAttr(element, 0));
      b.create<pto::StoreScalarOp>(loc, room, offset, constant(zero, element));
      b.setInsertionPointToStart(branch.thenBlock());
    }
    Value read = b.create<pto::LoadScalarOp>(loc, element, view.getPtr(), index);
    b.create<pto::StoreScalarOp>(loc, room, offset, read);
  });
  b.create<pto::TLoadOp>(loc, matrixView(room, *height, *width, indexConstant(*width), indexConstant(1)), dst);
  return dst;
}

Value Lowering::gatherMemory(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &var) {
  auto view = memoryOf(call.Operand("mem"), op);
  ir::ExprPtr indices = call.Operand("idx"), scratch = call.Operand("scratch");
  std::string mode = *call.Keyword<std::string>("gather_oob");
  bool rows = *call.Keyword<std::string>("coalesce") == "row";
  Value dst = destination(*op, var);
  auto type = cast<pto::TileBufType>(dst.getType());
  bool inMat = type.getLoc() != pto::AddressSpace::vec;
  if (rows ? view.getShape().size() != 2 : view.getShape().size() != 1)
    fail(op->span_, rows ? "mgather of rows needs a tensor of two axes" : "mgather of elements needs one axis");
  auto result = ir::As<ir::TileType>(var ? var->type_ : op->type_);
  const auto &valid =
      result->tile_view_ && !result->tile_view_->valid_shape.empty() ? result->tile_view_->valid_shape : result->shape_;
  if (inMat && !rows)
    return gatherThroughMemory(call, op, dst, valid);
  bool column = ir::ConstantInt(ir::ShapeOf(indices->type_)->back()) == 1;
  if (rows && column && !inMat && processor().addedOps && type.getCols() > 1) { // S reads no columns
    const auto &shape = *ir::ShapeOf(call.Operand("mem")->type_);
    Value whole = window(view, zeros(shape.size()), shape);
    b.create<pto::MGatherOp>(loc, whole, valueOf(indices), dst, *pto::symbolizeGatherOOB(mode));
    return dst;
  }
  if (mode == "zero") {
    Type element = type.getElementType();
    if (auto integer = dyn_cast<IntegerType>(element))
      element = b.getIntegerType(integer.getWidth());
    auto zero =
        mlir::isa<FloatType>(element) ? TypedAttr(b.getFloatAttr(element, 0)) : TypedAttr(b.getIntegerAttr(element, 0));
    b.create<pto::TExpandSOp>(loc, constant(zero, element), dst);
  }
  Value count = view.getShape()[0], height = indexOf(valid[0]), width = indexOf(valid[1]);
  forEach(rows ? ValueRange{height} : ValueRange{height, width}, [&](ValueRange at) {
    SmallVector<Value> place(at);
    if (rows) // a row or a column of indices
      place = column ? SmallVector<Value>{at[0], indexConstant(0)} : SmallVector<Value>{indexConstant(0), at[0]};
    Value inside;
    Value index = boundedIndex(indexAt(indices, place), count, mode, inside);
    if (inside)
      b.setInsertionPointToStart(b.create<scf::IfOp>(loc, inside, false).thenBlock());
    if (rows) {
      auto partType = pto::PartitionTensorViewType::get({1, getConstantIntValue(width).value_or(ShapedType::kDynamic)},
                                                        view.getType().getElementType());
      Value part = b.create<pto::PartitionViewOp>(loc, partType, view, ValueRange{index, indexConstant(0)},
                                                  ValueRange{indexConstant(1), width});
      auto row = type.withShape(1, type.getCols()).withValid(1, type.getValidCols());
      bool ragged = row.getValidCols() != row.getCols();
      Value target = b.create<pto::SubViewOp>(loc, row, dst, ValueRange{at[0], indexConstant(0)},
                                              ragged ? indexConstant(1) : Value(), ragged ? width : Value(),
                                              b.getI64ArrayAttr({1, type.getCols()}));
      b.create<pto::TLoadOp>(loc, part, target);
      return;
    }
    Type element = scalarType(*b.getContext(), result->dtype_);
    Value read = b.create<pto::LoadScalarOp>(loc, element, view.getPtr(), index);
    Value pitch = elementStrides(type).front();
    Value offset = b.create<arith::AddIOp>(loc, b.create<arith::MulIOp>(loc, at[0], pitch), at[1]);
    b.create<pto::TSetValOp>(loc, dst, offset, read);
  });
  return dst;
}

/// Whether the elements of a tensor lie one behind the other in the order of its axes.
static bool isPacked(pto::MakeTensorViewOp view) {
  if (view.getLayout() && *view.getLayout() != pto::Layout::nd)
    return false;
  int64_t pitch = 1;
  for (auto [extent, stride] : llvm::reverse(llvm::to_vector(llvm::zip_equal(view.getShape(), view.getStrides())))) {
    if (pitch < 0 || getConstantIntValue(stride) != pitch)
      return false;
    pitch *= getConstantIntValue(extent).value_or(-1);
  }
  return true;
}

/// Elements of a tile into a tensor, whose elements the indices count row by row: an instruction, or a loop of stores.
Value Lowering::scatterMemory(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &) {
  ir::ExprPtr source = call.Operand("src"), indices = call.Operand("idx"), out = call.Operand("out");
  auto type = ir::As<ir::TileType>(source->type_), places = ir::As<ir::TileType>(indices->type_);
  Value tile = valueOf(source), result = valueOf(out);
  auto view = memoryOf(out, op);
  if (!places || places->dtype_ != pypto::DataType::INT32)
    fail(op->span_, "mscatter needs a tile of INT32 as its indices");
  if (*ir::ElementTypeOf(out->type_) != type->dtype_)
    fail(op->span_, "mscatter needs a tensor of the tile's elements, " + std::string(type->dtype_.Name()));
  auto buffer = cast<pto::TileBufType>(tile.getType());
  auto held = cast<pto::TileBufType>(valueOf(indices).getType());
  if (buffer.getRows() != held.getRows() || buffer.getCols() != held.getCols() || buffer.isBoxed() || held.isBoxed())
    fail(op->span_, "mscatter needs an index for each element of the tile");
  if (!isPacked(view))
    fail(op->span_, "mscatter counts the elements of a whole tensor; this one is a part with strides");
  if (processor().addedOps) {
    const auto &shape = *ir::ShapeOf(out->type_);
    b.create<pto::MScatterOp>(loc, tile, valueOf(indices), window(result, zeros(shape.size()), shape));
    return result;
  }
  const auto &valid =
      type->tile_view_ && !type->tile_view_->valid_shape.empty() ? type->tile_view_->valid_shape : type->shape_;
  Value pitch = elementStrides(buffer).front();
  forEach({indexOf(valid[0]), indexOf(valid[1])}, [&](ValueRange at) {
    Value offset = b.create<arith::AddIOp>(loc, b.create<arith::MulIOp>(loc, at[0], pitch), at[1]);
    Value read = b.create<pto::TGetValOp>(loc, scalarType(*b.getContext(), type->dtype_), tile, offset);
    b.create<pto::StoreScalarOp>(loc, view.getPtr(), indexAt(indices, at), read);
  });
  return result;
}

} // namespace pto_mlir::pypto_frontend
