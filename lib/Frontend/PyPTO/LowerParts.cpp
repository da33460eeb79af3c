// Parts of tiles: windows that are copied out, written in place or moved to another memory; single elements.
#include "LinearForm.h"
#include "Lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "pto_mlir/Dialect/PTO/IR/Tiles.h"

using namespace mlir;

namespace pto_mlir::pypto_frontend {

/// Whether nobody reads the operand's tile after this: its buffer may be changed.
bool Lowering::isLastUse(const ir::ExprPtr &operand) const {
  auto var = ir::As<ir::Var>(operand);
  return var && uses.lookup(var.get()) == 1 && boundIn.lookup(var.get()) == b.getBlock() &&
         holders.lookup(pto::getAliasRoot(values.lookup(var.get()))) <= 1;
}

/// A tile with the elements of `operand` that may be changed: its own buffer, or a copy where it is still read.
Value Lowering::changeable(const ir::ExprPtr &operand, const ir::CallPtr &op, const ir::VarPtr &var) {
  Value tile = valueOf(operand);
  auto type = ir::As<ir::TileType>(var ? var->type_ : op->type_);
  Value place = var ? wanted.lookup(var.get()) : Value();
  if ((!type->memref_ || liesWith(type, operand->type_)) && (!place || place == tile) && isLastUse(operand)) {
    takeOver(operand, op->op_->name_);
    return tile;
  }
  Value copy = destination(*op, var);
  copyTile(tile, copy, op->span_);
  return copy;
}

/// The part of a tile that begins at the offsets, with the valid extent of `type`.
Value Lowering::partOf(Value tile, const std::vector<ir::ExprPtr> &offsets, const ir::TileTypePtr &type,
                       const ir::Span &span) {
  pto::TileBufType part = tileType(*b.getContext(), *type, options);
  auto whole = cast<pto::TileBufType>(tile.getType());
  if (whole.getLoc() != pto::AddressSpace::vec || whole.isBoxed() || offsets.size() != 2)
    fail(span, "a part of a tile is lowered for two axes of tiles in Vec");
  auto view = whole.withShape(part.getRows(), part.getCols()).withValid(part.getValidRows(), part.getValidCols());
  bool isAll = part.getValidRows() == part.getRows() && part.getValidCols() == part.getCols();
  auto extent = [&](unsigned axis, int64_t known) {
    return isAll                          ? Value()
           : ShapedType::isDynamic(known) ? indexOf(type->tile_view_->valid_shape[axis])
                                          : indexConstant(known);
  };
  Value rows = extent(0, part.getValidRows()), cols = extent(1, part.getValidCols());
  return b.create<pto::SubViewOp>(loc, view, tile, ValueRange{indexOf(offsets[0]), indexOf(offsets[1])}, rows, cols,
                                  b.getI64ArrayAttr({part.getRows(), part.getCols()}));
}

/// The op that has written `tile`, which nothing else uses but to say its valid extent, if nothing since then touches
/// memory; else null.
static Operation *justWritten(Value tile, Operation *now) {
  SmallVector<Operation *> users;
  for (OpOperand &use : tile.getUses())
    if (!isa<pto::SetValidShapeOp>(use.getOwner()))
      users.push_back(use.getOwner());
  if (!tile.getDefiningOp<pto::AllocTileOp>() || users.size() != 1)
    return nullptr;
  auto writer = dyn_cast<MemoryEffectOpInterface>(users.front());
  if (!writer || writer->getBlock() != now->getBlock() || writer.getEffectOnValue<MemoryEffects::Read>(tile))
    return nullptr;
  for (Operation *op = writer->getNextNode(); op && op != now; op = op->getNextNode())
    if (!isMemoryEffectFree(op))
      return nullptr;
  return writer.getEffectOnValue<MemoryEffects::Write>(tile) ? writer.getOperation() : nullptr;
}

/// Whether the result is said to lie where the operand does.
static bool liesIn(const ir::TileTypePtr &type, const ir::ExprPtr &operand) {
  auto whole = ir::As<ir::TileType>(operand->type_);
  return type->OwnBuffer() && whole && type->OwnBuffer() == whole->OwnBuffer();
}

/// Tiles that are all columns, as the rows of the same bytes: what works element by element takes no columns.
void Lowering::columnsAsRows(SmallVectorImpl<Value> &operands) {
  auto isColumn = [](pto::TileBufType type) {
    return type.getLoc() == pto::AddressSpace::vec && !type.isRowMajor() && !type.isBoxed() && type.getCols() == 1 &&
           type.hasStaticValid();
  };
  for (Value operand : operands)
    if (auto type = dyn_cast<pto::TileBufType>(operand.getType()); type && !isColumn(type))
      return;
  for (Value &operand : operands)
    if (auto type = dyn_cast<pto::TileBufType>(operand.getType())) {
      auto row = pto::TileBufType::get(type.getContext(), type.getLoc(), 1, type.getRows(), type.getElementType(),
                                       type.getValidCols(), type.getValidRows(), pto::BLayout::row_major,
                                       type.getSLayout(), type.getFractal(), type.getPad(), type.getCompact());
      operand = b.create<pto::TReshapeOp>(loc, row, operand);
    }
}

/// Whether a window of `extent` that begins at the offset is made of whole boxes inside of `whole`, in any run.
static bool takesBoxes(Value offset, int64_t extent, int64_t whole, int64_t box) {
  if (getConstantIntValue(offset))
    return true; // the op's verifier looks at it
  LinearForm form(offset);
  Bounds bounds = boundsOf(form);
  return divisorOf(form) % box == 0 && bounds.least && *bounds.least >= 0 && bounds.most &&
         *bounds.most + extent <= whole;
}

/// A window of a tile in boxes as another name of its bytes: of all its rows (of its columns where the boxes go by
/// rows) from some place on, or of its first ones, which are then the valid ones.
Value Lowering::boxedPart(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &var) {
  Value tile = valueOf(call.Operand("x"));
  auto whole = cast<pto::TileBufType>(tile.getType());
  auto type = ir::As<ir::TileType>(var ? var->type_ : op->type_);
  pto::TileBufType part = tileType(*b.getContext(), *type, options);
  keepsPlace(type, call.Operand("x"), op);
  std::vector<ir::ExprPtr> offsets = call.Elements("offset");
  bool byRows = whole.isRowMajor();
  if (offsets.size() != 2 || ir::ConstantInt(offsets[byRows ? 1 : 0]) != 0 || !part.hasStaticValid())
    fail(op->span_, "a part of a tile in Mat or Acc is lowered for two axes and constant extents, from its first " +
                        std::string(byRows ? "column on" : "row on"));
  Value row = indexOf(offsets[0]), column = indexOf(offsets[1]);
  auto [boxRows, boxColumns] = pto::getInnerBox(whole);
  if (byRows ? !takesBoxes(row, part.getRows(), whole.getRows(), boxRows)
             : !takesBoxes(column, part.getCols(), whole.getCols(), boxColumns))
    fail(op->span_, "a part of a tile in Mat or Acc begins at a multiple of " +
                        std::to_string(byRows ? boxRows : boxColumns) + " inside of it, and whether this one does is " +
                        "not known when the program is compiled; write it as a loop's index times a constant");
  int64_t rows = byRows ? part.getRows() : whole.getRows();
  int64_t columns = byRows ? whole.getCols() : part.getCols();
  int64_t validRows = std::min(part.getValidRows(), part.getRows());
  int64_t validColumns = std::min(part.getValidCols(), part.getCols());
  return b.create<pto::SubViewOp>(loc, whole.withShape(rows, columns).withValid(validRows, validColumns), tile,
                                  ValueRange{row, column}, indexConstant(validRows), indexConstant(validColumns),
                                  b.getI64ArrayAttr({rows, columns}));
}

/// A window of a tile, by a copy: what is written to either of them later is not seen in the other.
Value Lowering::slice(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &var) {
  if (!call.Elements("drop_dims").empty() || !call.Elements("valid_shape").empty() ||
      call.Keyword<bool>("clamp").value_or(false))
    fail(op->span_, "slice is lowered for whole windows, without drop_dims, valid_shape and clamp");
  auto type = ir::As<ir::TileType>(var ? var->type_ : op->type_);
  auto isZero = [](const ir::ExprPtr &offset) { return ir::ConstantInt(offset) == 0; };
  Value whole = valueOf(call.Operand("x"));
  bool isWhole = tileType(*b.getContext(), *type, options) == whole.getType();
  if (isWhole && llvm::all_of(call.Elements("offset"), isZero) && isLastUse(call.Operand("x")))
    return whole; // all of a tile that nobody else reads
  if (auto from = cast<pto::TileBufType>(whole.getType()); from.isBoxed() && from.getLoc() != pto::AddressSpace::vec)
    return boxedPart(call, op, var);
  Value part = partOf(whole, call.Elements("offset"), type, op->span_);
  if (liesIn(type, call.Operand("x")))
    return part;
  Value tile = destination(*op, var);
  b.create<pto::TMovOp>(loc, part, tile);
  return tile;
}

/// Writes the source to the part; what only it reads is computed there.
void Lowering::replacePart(const ir::ExprPtr &source, Value part) {
  Value tile = valueOf(source);
  Operation *writer =
      isLastUse(source) && tile.getType() == part.getType() ? justWritten(tile, part.getDefiningOp()) : nullptr;
  if (!writer) {
    b.create<pto::TMovOp>(loc, tile, part);
    return;
  }
  writer->moveAfter(part.getDefiningOp());
  for (Operation *user : llvm::make_early_inc_range(tile.getUsers()))
    if (isa<pto::SetValidShapeOp>(user)) // the part says it
      user->erase();
  tile.replaceAllUsesWith(part);
  values[ir::As<ir::Var>(source).get()] = part;
  holders.erase(tile);
  for (auto &[key, buffer] : buffers)
    if (buffer == tile)
      buffer = nullptr;
  llvm::erase_if(tilesOfTurns, [&](auto &each) { return each.first == tile.getDefiningOp(); });
  tile.getDefiningOp()->erase();
}

Value Lowering::assemble(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &var) {
  if (call.Enum<ir::AtomicType>("atomic") == ir::AtomicType::Add)
    fail(op->span_, "assemble adds to tensors only");
  auto offsets = call.Elements("offset");
  Value source = valueOf(call.Operand("source"));
  auto from = cast<pto::TileBufType>(source.getType());
  Value target = changeable(call.Operand("target"), op, var);
  if (from.getLoc() == pto::AddressSpace::vec) {
    replacePart(call.Operand("source"),
                partOf(target, offsets, ir::As<ir::TileType>(call.Operand("source")->type_), op->span_));
    return target;
  }
  if (offsets.size() != 2)
    fail(op->span_, "assemble needs two offsets");
  if (pto::getTileLayout(cast<pto::TileBufType>(target.getType())) == pto::TileLayout::ZN)
    fail(op->span_, "parts go into a tile in Mat that is made without `transpose=True`");
  b.create<pto::TInsertOp>(loc, source, indexOf(offsets[0]), indexOf(offsets[1]), target);
  return target;
}

Value Lowering::extract(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &var) {
  Value source = valueOf(call.Operand("src"));
  Value row = indexOf(call.Operand("row")), col = indexOf(call.Operand("col"));
  Value tile = destination(*op, var);
  b.create<pto::TExtractOp>(loc, source, row, col, tile);
  return tile;
}

Value Lowering::columnsOf(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &var) {
  Value source = valueOf(call.Operand("src"));
  auto numbers = [&](const char *name) {
    SmallVector<int64_t> values;
    for (const ir::ExprPtr &element : call.Elements(name)) {
      auto known = ir::ConstantInt(element);
      if (!known)
        fail(op->span_, "img2col takes " + std::string(name) + " that is known; write numbers");
      values.push_back(*known);
    }
    return b.getI64ArrayAttr(values);
  };
  Value row = indexOf(call.Operand("row")), col = indexOf(call.Operand("col"));
  Value tile = destination(*op, var);
  b.create<pto::TImg2ColOp>(loc, source, row, col, tile, numbers("kernel"), numbers("strides"), numbers("dilations"),
                            numbers("pads"), numbers("image"), *call.Keyword<int64_t>("channels"));
  return tile;
}

/// A matrix in boxes by rows has the bytes of its transpose in boxes by columns.
Value Lowering::transposeView(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &var) {
  keepsPlace(var ? var->type_ : op->type_, call.Operand("tile"), op);
  Value tile = valueOf(call.Operand("tile"));
  auto type = cast<pto::TileBufType>(tile.getType());
  pto::TileLayout layout = pto::getTileLayout(type);
  if (type.getLoc() != pto::AddressSpace::mat || (layout != pto::TileLayout::NZ && layout != pto::TileLayout::ZN) ||
      !type.hasStaticValid())
    fail(op->span_, "transpose_view is lowered for tiles in Mat, in boxes; load with target_memory=pl.Mem.Mat");
  auto make = layout == pto::TileLayout::NZ ? pto::makeMatZNTile : pto::makeMatTile;
  auto view = make(b.getContext(), type.getCols(), type.getRows(), type.getElementType(), type.getValidCols(),
                   type.getValidRows());
  return b.create<pto::TReshapeOp>(loc, view, tile);
}

/// The same tile by another name, of which another part is valid.
Value Lowering::setValidShape(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &var) {
  Value tile = valueOf(call.Operand("x"));
  auto type = cast<pto::TileBufType>(tile.getType());
  keepsPlace(var ? var->type_ : op->type_, call.Operand("x"), op);
  Value zero = indexConstant(0), rows = indexOf(call.Operand("rows")), cols = indexOf(call.Operand("cols"));
  auto staticRows = getConstantIntValue(rows), staticCols = getConstantIntValue(cols);
  bool known = staticRows && staticCols;
  auto view =
      known ? type.withValid(*staticRows, *staticCols) : type.withValid(ShapedType::kDynamic, ShapedType::kDynamic);
  return b.create<pto::SubViewOp>(loc, view, tile, ValueRange{zero, zero}, rows, cols,
                                  b.getI64ArrayAttr({type.getRows(), type.getCols()}));
}

Value Lowering::reinterpret(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &var) {
  auto type = ir::As<ir::TileType>(var ? var->type_ : op->type_);
  keepsPlace(type, call.Operand("x"), op);
  Value tile = valueOf(call.Operand("x"));
  auto from = cast<pto::TileBufType>(tile.getType()), to = tileType(*b.getContext(), *type, options);
  if (from.isBoxed())
    fail(op->span_, "reinterpret_view of a tile in boxes is not lowered yet");
  if (from == to)
    return tile;
  if (from.withElementType(to.getElementType()) != to) // other columns, too
    return b.create<pto::TReshapeOp>(loc, to, tile);
  return b.create<pto::BitcastOp>(loc, to, tile);
}

/// Elements between two rows and between two columns of a tile without boxes, each of whose lines begins at a multiple
/// of 32 bytes.
SmallVector<Value> Lowering::elementStrides(pto::TileBufType type) {
  auto [rows, columns] = pto::getPaddedBox(type);
  return {indexConstant(type.isRowMajor() ? columns : 1), indexConstant(type.isRowMajor() ? 1 : rows)};
}

/// Elements between a tile's beginning and the one at the indices.
Value Lowering::elementOffset(pto::TileBufType type, const std::vector<ir::ExprPtr> &indices, const ir::Span &span) {
  if (type.isBoxed())
    fail(span, "elements of a tile in boxes are not lowered yet");
  return flatIndex(elementStrides(type), indices);
}

Value Lowering::read(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &) {
  Value source = valueOf(call.Operand("x"));
  Type type = scalarType(*b.getContext(), *ir::ElementTypeOf(op->type_));
  auto indices = call.Elements("indices");
  if (auto view = source.getDefiningOp<pto::MakeTensorViewOp>())
    return b.create<pto::LoadScalarOp>(loc, type, view.getPtr(), flatIndex(view.getStrides(), indices));
  Value offset = elementOffset(cast<pto::TileBufType>(source.getType()), indices, op->span_);
  return b.create<pto::TGetValOp>(loc, type, source, offset);
}

Value Lowering::write(const ir::OpView &call, const ir::CallPtr &op, const ir::VarPtr &var) {
  ir::ExprPtr x = call.Operand("x");
  Value element = scalarOf(call.Operand("value"), scalarType(*b.getContext(), *ir::ElementTypeOf(x->type_)));
  auto indices = call.Elements("indices");
  if (ir::IsA<ir::TensorType>(x->type_)) {
    auto view = valueOf(x).getDefiningOp<pto::MakeTensorViewOp>();
    b.create<pto::StoreScalarOp>(loc, view.getPtr(), flatIndex(view.getStrides(), indices), element);
    return view;
  }
  // `tile.write(t, ..)` without a variable changes t itself.
  Value tile = var ? changeable(x, op, var) : valueOf(x);
  b.create<pto::TSetValOp>(loc, tile, elementOffset(cast<pto::TileBufType>(tile.getType()), indices, op->span_),
                           element);
  return tile;
}

} // namespace pto_mlir::pypto_frontend
