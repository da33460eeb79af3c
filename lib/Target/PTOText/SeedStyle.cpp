// The text as the first PTOCodegen wrote it.
#include "SeedStyle.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "pto_mlir/Dialect/PTO/IR/PTO.h"
#include "pto_mlir/Dialect/PTO/IR/Tiles.h"
#include "pto_mlir/Target/PTOText/PTOText.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace pto_mlir::ptotext {
namespace {

bool atBegin(Operation *op, Block *entry) {
  return llvm::all_of(op->getOperands(), [&](Value operand) {
    auto *made = operand.getDefiningOp();
    return made ? isa<arith::ConstantOp>(made) : cast<BlockArgument>(operand).getOwner() == entry;
  });
}

/// A value's type as the seed writes it.
std::string typeText(Value value) {
  if (auto tile = dyn_cast<pto::TileBufType>(value.getType())) {
    Operation *alloc = pto::getAliasRoot(value).getDefiningOp();
    return fullText(tile, alloc && alloc->hasAttr(kNoBoxAttr));
  }
  std::string text;
  llvm::raw_string_ostream(text) << value.getType();
  return text;
}

void replaceAll(std::string &text, StringRef from, StringRef to) {
  for (size_t at = text.find(from.str()); at != std::string::npos; at = text.find(from.str(), at + to.size()))
    text.replace(at, from.size(), to.str());
}

/// `%a, %b` of an `ins(%a, %b : ..)` with the type of each operand behind it; nothing when they are not values only.
std::optional<std::string> typedEach(Operation *op, StringRef list, AsmState &names) {
  SmallVector<StringRef> entries;
  list.split(entries, ',');
  std::string result;
  for (StringRef entry : entries) {
    auto found = llvm::find_if(op->getOperands(), [&](Value operand) {
      std::string name;
      llvm::raw_string_ostream stream(name);
      operand.printAsOperand(stream, names);
      return entry.trim() == name;
    });
    if (found == op->operand_end())
      return std::nullopt;
    result += (result.empty() ? "" : ", ") + entry.trim().str() + " : " + typeText(*found);
  }
  return result;
}

} // namespace

std::string fullText(pto::TileBufType type, bool noBox) {
  std::string element;
  llvm::raw_string_ostream(element) << type.getElementType();
  auto extent = [](int64_t value) { return ShapedType::isDynamic(value) ? std::string("?") : std::to_string(value); };
  StringRef bLayout = noBox ? "none_box" : pto::stringifyBLayout(type.getBLayout());
  std::string text =
      llvm::formatv("!pto.tile_buf<loc={0}, dtype={1}, rows={2}, cols={3}, v_row={4}, v_col={5}, blayout={6}, "
                    "slayout={7}, fractal={8}, pad={9}",
                    pto::stringifyAddressSpace(type.getLoc()), element, type.getRows(), type.getCols(),
                    extent(type.getValidRows()), extent(type.getValidCols()), bLayout,
                    pto::stringifySLayout(type.getSLayout()), type.getFractal(), static_cast<uint32_t>(type.getPad()));
  if (type.getCompact() != pto::CompactMode::Null)
    text += ", compact=" + std::to_string(static_cast<uint32_t>(type.getCompact()));
  return text + ">";
}

void orderForSeed(func::FuncOp func) {
  Block *entry = &func.getBody().front();
  SmallVector<Operation *> constants, tiles, views;
  func.walk([&](arith::ConstantOp op) { constants.push_back(op); });
  DenseMap<Attribute, Value> known;
  Operation *last = nullptr;
  auto append = [&](Operation *op) {
    if (last)
      op->moveAfter(last);
    else
      op->moveBefore(entry, entry->begin());
    last = op;
  };
  for (Operation *op : constants) {
    auto [found, isNew] = known.try_emplace(cast<arith::ConstantOp>(op).getValue(), op->getResult(0));
    if (isNew) {
      append(op);
      continue;
    }
    op->getResult(0).replaceAllUsesWith(found->second);
    op->erase();
  }
  func.walk([&](Operation *op) {
    if (isa<pto::AllocTileOp>(op) && atBegin(op, entry))
      tiles.push_back(op);
    else if (isa<pto::MakeTensorViewOp>(op) && atBegin(op, entry))
      views.push_back(op);
  });
  llvm::for_each(tiles, append);
  llvm::for_each(views, append);
}

SmallVector<Operation *> printedOrder(Block &block) {
  // After orderForSeed the block begins with constants, tiles and views.
  SmallVector<Operation *> constants, tiles, views, others;
  for (Operation &op : block) {
    bool begins = others.empty() && atBegin(&op, &block);
    if (begins && isa<arith::ConstantOp>(op))
      constants.push_back(&op);
    else if (begins && isa<pto::AllocTileOp>(op))
      tiles.push_back(&op);
    else if (begins && isa<pto::MakeTensorViewOp>(op))
      views.push_back(&op);
    else
      others.push_back(&op);
  }
  llvm::append_range(constants, views);
  llvm::append_range(constants, tiles);
  llvm::append_range(constants, others);
  return constants;
}

std::string seedSpelling(Operation *op, StringRef text, AsmState &names) {
  std::string result;
  for (StringRef group : {"ins(", "outs("}) {
    size_t open = text.find(group);
    if (open == StringRef::npos)
      continue;
    open += group.size();
    size_t colon = text.find(" : ", open), close = open;
    for (int depth = 1; close < text.size(); ++close) {
      depth += text[close] == '(';
      if (text[close] == ')' && --depth == 0)
        break;
    }
    if (colon == StringRef::npos || colon > close)
      continue;
    auto each = typedEach(op, text.slice(open, colon), names);
    if (!each)
      continue;
    result += text.take_front(open).str() + *each;
    text = text.drop_front(close);
  }
  result += text;
  auto inFull = [&](Value value) {
    auto tile = dyn_cast<pto::TileBufType>(value.getType());
    std::string compact;
    llvm::raw_string_ostream(compact) << value.getType();
    if (tile)
      replaceAll(result, compact, typeText(value));
  };
  llvm::for_each(op->getOperands(), inFull);
  llvm::for_each(op->getResults(), inFull);
  if (isa<pto::MakeTensorViewOp>(op))
    replaceAll(result, "], strides", "] strides");
  if (isa<pto::AllocTileOp>(op) && op->hasAttr(kNoBoxAttr)) {
    replaceAll(result, (" {" + kNoBoxAttr + "}").str(), "");
  }
  return result;
}

} // namespace pto_mlir::ptotext
