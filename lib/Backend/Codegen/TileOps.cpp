//===- TileOps.cpp - Allocation and aliases of tiles ----------------------===//
//
// A tile is an operand, not a value: these ops emit at most the address arithmetic of a part that begins at a computed
// row.
//
//===----------------------------------------------------------------------===//

#include "Carried.h"
#include "Models.h"
#include "Types.h"

#include "pto_mlir/Dialect/PTO/IR/Tiles.h"
#include "pto_mlir/ISA/Table.h"

using namespace mlir;

namespace pto_mlir::backend {

FailureOr<TileDesc> describeTile(Operation *op, pto::TileBufType type) {
  auto element = elementType(type.getElementType());
  auto space = memory(type.getLoc());
  if (!element || !space)
    return op->emitOpError("has type ") << type << ", which no instruction can address";
  if (type.getRows() < 1 || type.getCols() < 1 || type.getRows() > UINT16_MAX || type.getCols() > UINT16_MAX)
    return op->emitOpError("has a box of ")
           << type.getRows() << "x" << type.getCols() << ", the ISA's limit is 65535 per side";
  TileDesc desc;
  desc.memory = *space;
  desc.tile.type = *element;
  desc.tile.layout = isa::Layout(unsigned(pto::getTileLayout(type)));
  desc.tile.pad = isa::Pad(unsigned(type.getPad()));
  desc.tile.rows = uint16_t(type.getRows());
  desc.tile.cols = uint16_t(type.getCols());
  desc.tile.validRows = type.hasDynamicValidRows() ? isa::Value(-1) : isa::Value(type.getValidRows());
  desc.tile.validCols = type.hasDynamicValidCols() ? isa::Value(-1) : isa::Value(type.getValidCols());
  return desc;
}

namespace {

// A shape that is set in another block than the tile's holds wherever the tile is used afterwards: it lives in
// registers.
bool changesValidShape(pto::AllocTileOp alloc) {
  return llvm::any_of(alloc->getUsers(), [&](Operation *user) {
    return llvm::isa<pto::SetValidShapeOp>(user) && user->getBlock() != alloc->getBlock();
  });
}

// The scales that belong to an operand of the tile's shape, as the instructions see them: bytes in boxes of two groups.
LogicalResult describeScales(Operation *op, CodegenContext &cg, pto::TileBufType type, pto::ScaleUse use,
                             TileDesc &desc) {
  bool left = use == pto::ScaleUse::left;
  auto [rows, cols] = pto::getScaleBox(type, use);
  desc.memory = left ? isa::Memory::SA : isa::Memory::SB;
  desc.tile.type = isa::ElementType::f8E8M0;
  desc.tile.layout = left ? isa::Layout::ZZ : isa::Layout::NN;
  desc.tile.rows = uint16_t(rows), desc.tile.cols = uint16_t(cols);
  isa::Value &groups = left ? desc.tile.validCols : desc.tile.validRows;
  return failure(failed(cg.binary<isa::Add>(op, groups, isa::Value(31), groups)) ||
                 failed(cg.binary<isa::Div>(op, groups, isa::Value(32), groups)));
}

struct AllocModel : CodegenOpInterface::ExternalModel<AllocModel, pto::AllocTileOp> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const {
    auto alloc = cast<pto::AllocTileOp>(op);
    auto desc = describeTile(op, alloc.getTileType());
    if (failed(desc))
      return failure();
    if (!alloc.getAddr())
      return op->emitOpError("has no address; run pto-plan-local-memory first");
    if (op->hasAttr(pto::kPaddedAttr)) {
      auto [rows, cols] = pto::getPaddedBox(alloc.getTileType());
      desc->tile.rows = uint16_t(rows), desc->tile.cols = uint16_t(cols);
    }
    if (failed(cg.integer(op, alloc.getAddr(), desc->tile.address)) ||
        (alloc.getValidRow() && failed(cg.integer(op, alloc.getValidRow(), desc->tile.validRows))) ||
        (alloc.getValidCol() && failed(cg.integer(op, alloc.getValidCol(), desc->tile.validCols))))
      return failure();
    if (changesValidShape(alloc))
      for (isa::Value *extent : {&desc->tile.validRows, &desc->tile.validCols}) {
        auto reg = cg.registerFor(op, alloc.getResult());
        if (failed(reg) || failed(cg.emit(op, isa::Mov{*reg, *extent})))
          return failure();
        *extent = isa::Value::reg(*reg);
      }
    uint64_t bytes = uint64_t(pto::getPaddedTileBytes(alloc.getTileType()));
    if (desc->memory == isa::Memory::FB)
      if (pto::ScaleUse use = pto::getScaleUse(alloc.getResult()); use != pto::ScaleUse::none) {
        if (failed(describeScales(op, cg, alloc.getTileType(), use, *desc)))
          return failure();
        bytes = uint64_t(desc->tile.rows) * desc->tile.cols;
      }
    uint64_t capacity = cg.processor.arch->memory(desc->memory).bytes;
    auto begin = upperBound(alloc.getAddr());
    cg.useMemory(desc->memory,
                 begin && *begin >= 0 ? std::min<uint64_t>(uint64_t(*begin) + bytes, capacity) : capacity);
    cg.define(alloc.getResult(), *desc);
    return success();
  }
};

// min(size, max(valid - offset, 0)), as far as the range of the offset leaves it open. `index` is the offset as a value
// of the IR.
LogicalResult clip(Operation *op, CodegenContext &cg, const isa::Value &valid, const isa::Value &offset,
                   mlir::Value index, int64_t size, isa::Value &out) {
  auto most = valid.isRegister ? std::optional<int64_t>() : upperBound(index);
  if (most && *most + size <= valid.value) {
    out = isa::Value(size);
    return success();
  }
  isa::Value left;
  if (failed(cg.binary<isa::Sub>(op, valid, offset, left)) ||
      (!(most && *most <= valid.value) && failed(cg.binary<isa::Max>(op, left, isa::Value(0), left))))
    return failure();
  return cg.binary<isa::Min>(op, left, isa::Value(size), out);
}

/// Where the part of `from` at `row`, `col` begins: whole rows (columns) of the outer direction plus the offset inside
/// the inner one, along which boxes follow each other line by line.
LogicalResult partAddress(Operation *op, CodegenContext &cg, const isa::Tile &from, pto::TileBufType type,
                          isa::Value row, isa::Value col, isa::Value &address) {
  bool rowMajor = type.isRowMajor();
  unsigned bits = isa::elementBits(from.type);
  isa::Value outer, inner = rowMajor ? col : row;
  int64_t pitch = (rowMajor ? from.cols : from.rows) * bits / 8;
  if (failed(cg.binary<isa::Mul>(op, rowMajor ? row : col, isa::Value(pitch), outer)))
    return failure();
  auto [boxRows, boxCols] = pto::getInnerBox(type);
  unsigned step = bits * unsigned(rowMajor ? boxRows : boxCols);
  LogicalResult scaled = step % 8 ? cg.binary<isa::Shr>(op, inner, isa::Value(1), inner)
                                  : cg.binary<isa::Mul>(op, inner, isa::Value(step / 8), inner);
  return failure(failed(scaled) || failed(cg.binary<isa::Add>(op, outer, inner, outer)) ||
                 failed(cg.binary<isa::Add>(op, from.address, outer, address)));
}

struct SubsetModel : CodegenOpInterface::ExternalModel<SubsetModel, pto::SubsetOp> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const {
    auto subset = cast<pto::SubsetOp>(op);
    auto source = cg.tileDesc(op, subset.getSource());
    auto type = cast<pto::TileBufType>(subset.getResult().getType());
    auto desc = describeTile(op, type);
    isa::Value row, col;
    if (failed(source) || failed(desc) || failed(cg.integer(op, subset.getOffsets()[0], row)) ||
        failed(cg.integer(op, subset.getOffsets()[1], col)))
      return failure();
    const isa::Tile &from = source->tile;
    isa::Tile &to = desc->tile;
    if (auto alloc = pto::getAliasRoot(subset.getSource()).getDefiningOp(); alloc && alloc->hasAttr(pto::kPaddedAttr)) {
      auto [rows, cols] = pto::getPaddedBox(type);
      to.rows = uint16_t(rows), to.cols = uint16_t(cols);
    }
    // The part must keep the pitch of the whole: all columns of a row-major tile, all rows of a column-major one, or a
    // single row or column.
    bool rowMajor = type.isRowMajor();
    bool whole = rowMajor ? to.cols == from.cols || to.rows == 1 : to.rows == from.rows || to.cols == 1;
    if (!whole)
      return op->emitOpError("is no contiguous part of its source: a ")
             << (rowMajor ? "row" : "column") << "-major tile can only be cut into whole "
             << (rowMajor ? "rows" : "columns");
    if (failed(partAddress(op, cg, from, type, row, col, to.address)))
      return failure();
    if (type.hasDynamicValidRows() &&
        failed(clip(op, cg, from.validRows, row, subset.getOffsets()[0], to.rows, to.validRows)))
      return failure();
    if (type.hasDynamicValidCols() &&
        failed(clip(op, cg, from.validCols, col, subset.getOffsets()[1], to.cols, to.validCols)))
      return failure();
    cg.define(subset.getResult(), *desc);
    return success();
  }
};

// The whole's box from another place on, of which only the part is valid: so rows keep their pitch.
struct SubViewModel : CodegenOpInterface::ExternalModel<SubViewModel, pto::SubViewOp> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const {
    auto part = cast<pto::SubViewOp>(op);
    auto source = cg.tileDesc(op, part.getSource());
    auto type = cast<pto::TileBufType>(part.getResult().getType());
    auto desc = describeTile(op, type);
    isa::Value row, col;
    if (failed(source) || failed(desc) || failed(cg.integer(op, part.getOffsets()[0], row)) ||
        failed(cg.integer(op, part.getOffsets()[1], col)))
      return failure();
    const isa::Tile &from = source->tile;
    isa::Tile &to = desc->tile;
    (type.isRowMajor() ? to.cols : to.rows) = type.isRowMajor() ? from.cols : from.rows;
    if (failed(partAddress(op, cg, from, type, row, col, to.address)))
      return failure();
    if ((type.hasDynamicValidRows() && part.getValidRow() &&
         failed(cg.integer(op, part.getValidRow(), to.validRows))) ||
        (type.hasDynamicValidCols() && part.getValidCol() && failed(cg.integer(op, part.getValidCol(), to.validCols))))
      return failure();
    if (!part.getValidRow()) {
      to.validRows = isa::Value(type.getRows());
      to.validCols = isa::Value(type.getCols());
    }
    cg.define(part.getResult(), *desc);
    return success();
  }
};

// Another name of the same bytes; the shape is the result type's.
template <typename Op> struct ReshapeModel : CodegenOpInterface::ExternalModel<ReshapeModel<Op>, Op> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const {
    auto source = cg.tileDesc(op, op->getOperand(0));
    auto type = cast<pto::TileBufType>(op->getResult(0).getType());
    auto desc = describeTile(op, type);
    if (failed(source) || failed(desc))
      return failure();
    if (source->memory == isa::Memory::SA || source->memory == isa::Memory::SB) {
      cg.define(op->getResult(0), *source);
      return success();
    }
    const isa::Tile &from = source->tile;
    isa::Tile &to = desc->tile;
    to.address = from.address;
    // A box that was rounded up stays so.
    if (auto alloc = pto::getAliasRoot(op->getOperand(0)).getDefiningOp(); alloc && alloc->hasAttr(pto::kPaddedAttr)) {
      if (to.layout != from.layout || pto::getPaddedBox(type) != std::pair<int64_t, int64_t>(from.rows, from.cols) ||
          isa::elementBits(to.type) != isa::elementBits(from.type))
        return op->emitOpError("cannot give another shape to a tile whose rows are no multiple of 32 bytes");
      to.rows = from.rows, to.cols = from.cols;
    }
    // A column turned into a row, or back, exchanges the extents; an unchanged shape keeps them.
    bool same = to.rows == from.rows && to.cols == from.cols;
    bool turned = to.rows == from.cols && to.cols == from.rows && (to.rows == 1 || to.cols == 1);
    if (!type.hasStaticValid() && !same && !turned)
      return op->emitOpError("cannot tell the valid part of a ")
             << unsigned(from.rows) << "x" << unsigned(from.cols) << " tile seen as " << unsigned(to.rows) << "x"
             << unsigned(to.cols);
    if (type.hasDynamicValidRows())
      to.validRows = same ? from.validRows : from.validCols;
    if (type.hasDynamicValidCols())
      to.validCols = same ? from.validCols : from.validRows;
    cg.define(op->getResult(0), *desc);
    return success();
  }
};

struct TAssignModel : CodegenOpInterface::ExternalModel<TAssignModel, pto::TAssignOp> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const {
    auto assign = cast<pto::TAssignOp>(op);
    auto desc = cg.tileDesc(op, assign.getSource());
    if (failed(desc) || failed(cg.integer(op, assign.getAddr(), desc->tile.address)))
      return failure();
    cg.define(assign.getResult(), *desc);
    return success();
  }
};

struct SetValidModel : CodegenOpInterface::ExternalModel<SetValidModel, pto::SetValidShapeOp> {
  LogicalResult generate(Operation *op, CodegenContext &cg) const {
    auto set = cast<pto::SetValidShapeOp>(op);
    auto desc = cg.tileDesc(op, set.getSource());
    if (failed(desc))
      return failure();
    isa::Value rows, cols;
    if (failed(cg.integer(op, set.getValidRow(), rows)) || failed(cg.integer(op, set.getValidCol(), cols)))
      return failure();
    auto alloc = set.getSource().getDefiningOp<pto::AllocTileOp>();
    if (alloc && changesValidShape(alloc))
      return failure(failed(cg.emit(op, isa::Mov{uint8_t(desc->tile.validRows.value), rows})) ||
                     failed(cg.emit(op, isa::Mov{uint8_t(desc->tile.validCols.value), cols})));
    // The new shape holds until the tile's last use.
    if (set.getSource().getParentBlock() != op->getBlock())
      return op->emitOpError(
          "stands in another block than its tile, which has no pto.alloc_tile; set the shape of the allocated tile");
    desc->tile.validRows = rows;
    desc->tile.validCols = cols;
    cg.define(set.getSource(), *desc);
    return success();
  }
};

} // namespace

void attachTileModels(MLIRContext *c) {
  pto::AllocTileOp::attachInterface<AllocModel>(*c);
  pto::SubsetOp::attachInterface<SubsetModel>(*c);
  pto::SubViewOp::attachInterface<SubViewModel>(*c);
  pto::TReshapeOp::attachInterface<ReshapeModel<pto::TReshapeOp>>(*c);
  pto::BitcastOp::attachInterface<ReshapeModel<pto::BitcastOp>>(*c);
  pto::TAssignOp::attachInterface<TAssignModel>(*c);
  pto::SetValidShapeOp::attachInterface<SetValidModel>(*c);
}

} // namespace pto_mlir::backend
