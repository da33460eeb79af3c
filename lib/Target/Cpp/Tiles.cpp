// Declarations of tiles, and of tiles that name memory of other ones.
#include "FunctionEmitter.h"
#include "Types.h"

#include "mlir/IR/Matchers.h"
#include "pto_mlir/Dialect/PTO/IR/Tiles.h"

using namespace mlir;

namespace pto_mlir::cpp {

LogicalResult FunctionEmitter::declareTile(Value tile, pto::TileBufType type, StringRef rows, StringRef cols,
                                           StringRef address) {
  std::string spelled = tileType(type, policy);
  if (spelled.empty())
    return refuse(tile) << "a tile of " << type.getElementType();
  std::string name = nameFor(tile), arguments = constructorArguments(type, rows, cols, policy);
  if (policy.prologue) {
    out.line("using " + name + "Type = " + spelled + ";");
    spelled = name + "Type";
  }
  out.line(spelled + " " + name + (arguments.empty() ? "" : "(" + arguments + ")") + ";");
  if (!address.empty())
    out.line("TASSIGN(" + name + ", " + address + ");");
  texts[tile] = name;
  typeTexts[tile] = spelled;
  addresses[tile] = address;
  return success();
}

std::string FunctionEmitter::addressOf(Value tile) const {
  std::string address = addresses.lookup(tile);
  return address.empty() ? ("(uint64_t)" + text(tile) + ".data()").str() : address;
}

/// The library's tiles fill blocks of 32 bytes, as the planner has laid this one out.
static pto::TileBufType padded(pto::TileBufType type) {
  auto [rows, cols] = pto::getPaddedBox(type);
  return type.withShape(rows, cols).withValid(type.getValidRows(), type.getValidCols());
}

LogicalResult FunctionEmitter::allocTile(pto::AllocTileOp op) {
  if (texts.contains(op.getResult()))
    return success(); // in the prologue
  std::string address;
  if (Value addr = op.getAddr()) {
    APInt constant;
    address = matchPattern(addr, m_ConstantInt(&constant)) ? "0x" + llvm::utohexstr(constant.getZExtValue(), true)
                                                           : text(addr).str();
  }
  return declareTile(op.getResult(), padded(op.getTileType()), op.getValidRow() ? text(op.getValidRow()) : "",
                     op.getValidCol() ? text(op.getValidCol()) : "", address);
}

LogicalResult FunctionEmitter::aliasTile(Operation *op, Value source) {
  Value result = op->getResult(0);
  auto type = cast<pto::TileBufType>(result.getType()), from = cast<pto::TileBufType>(source.getType());
  std::string rows = (text(source) + ".GetValidRow()").str(), cols = (text(source) + ".GetValidCol()").str();
  auto assign = dyn_cast<pto::TAssignOp>(op);
  bool reshape = isa<pto::TReshapeOp>(op) && from.getElementType() == type.getElementType();
  std::string address = assign ? text(assign.getAddr()).str() : addressOf(source);
  if (failed(declareTile(result, type, rows, cols, reshape ? "" : address)))
    return failure();
  if (reshape)
    out.line("TRESHAPE(" + text(result) + ", " + text(source) + ");");
  addresses[result] = addresses.lookup(source).empty() && !assign ? "" : address;
  return success();
}

/// Elements between the beginnings of a tile and of its part, which begins at a box.
static std::string partOffset(pto::TileBufType type, const std::string &row, const std::string &col) {
  auto [boxRows, boxCols] = pto::getInnerBox(type);
  bool byRows = type.isRowMajor();
  return "(" + row + " * " + std::to_string(byRows ? type.getCols() : boxCols) + " + " + col + " * " +
         std::to_string(byRows ? boxRows : type.getRows()) + ")";
}

/// min(size, valid - offset), where the whole's valid extent is `valid` or, if that is open, `shown`.
static std::string validRest(int64_t size, int64_t valid, std::string shown, StringRef offset) {
  if (!ShapedType::isDynamic(valid))
    shown = std::to_string(valid);
  std::string rest = shown + " - " + offset.str(), whole = std::to_string(size);
  return "(" + rest + " < " + whole + " ? " + rest + " : " + whole + ")";
}

LogicalResult FunctionEmitter::partOfTile(Operation *op, Value source, Value row, Value col) {
  Value result = op->getResult(0);
  auto type = cast<pto::TileBufType>(result.getType()), from = cast<pto::TileBufType>(source.getType());
  bool keepsPitch = isa<pto::SubViewOp>(op);
  if (keepsPitch) // the library knows a tile's pitch by its type
    type = pto::TileBufType::get(type.getContext(), type.getLoc(), from.isRowMajor() ? type.getRows() : from.getRows(),
                                 from.isRowMajor() ? from.getCols() : type.getCols(), type.getElementType(),
                                 type.getValidRows(), type.getValidCols(), type.getBLayout(), type.getSLayout(),
                                 type.getFractal(), type.getPad(), type.getCompact());
  std::string address = addressOf(source) + " + " + partOffset(from, text(row).str(), text(col).str()) + " * " +
                        std::to_string(pto::getElementBits(from.getElementType()) / 8);
  std::string rows, cols;
  if (auto view = dyn_cast<pto::SubViewOp>(op)) {
    rows = view.getValidRow() ? text(view.getValidRow()).str() : "";
    cols = view.getValidCol() ? text(view.getValidCol()).str() : "";
  } else {
    rows = validRest(type.getRows(), from.getValidRows(), (text(source) + ".GetValidRow()").str(), text(row));
    cols = validRest(type.getCols(), from.getValidCols(), (text(source) + ".GetValidCol()").str(), text(col));
  }
  return declareTile(result, type, rows, cols, address);
}

LogicalResult FunctionEmitter::setValidShape(pto::SetValidShapeOp op) {
  out.line(text(op.getSource()) + ".SetValidShape(" + text(op.getValidRow()) + ", " + text(op.getValidCol()) + ");");
  return success();
}

} // namespace pto_mlir::cpp
