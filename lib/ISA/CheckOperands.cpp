//===- CheckOperands.cpp - Legal tiles and shapes -------------------------===//
//
// Limits of single operands come from the table; relations between operands are checked here, one case each.
//
//===----------------------------------------------------------------------===//

#include "pto_mlir/ISA/OperandVisitor.h"
#include "pto_mlir/ISA/Verify.h"

namespace pto_mlir::isa {

static std::string extents(const Tile &t) {
  return std::to_string(t.validRows.value) + "x" + std::to_string(t.validCols.value);
}

std::optional<std::string> checkTile(const OperandInfo &operand, const Tile &tile, Memory memory, Arch arch) {
  auto fail = [&](const std::string &what) { return std::string("operand '") + operand.name + "' " + what; };
  const char *memoryName = kMemoryNames[unsigned(memory)];
  if (!(operand.memories >> unsigned(memory) & 1))
    return fail(std::string("cannot lie in ") + memoryName);
  if (!(operand.layouts >> unsigned(tile.layout) & 1))
    return fail(std::string("cannot have layout ") + kLayoutNames[unsigned(tile.layout)]);
  if (operand.types && !(operand.types >> unsigned(tile.type) & 1))
    return fail(std::string("cannot hold ") + elementName(tile.type));

  Box box = innerBox(tile.layout, tile.type);
  if (tile.rows == 0 || tile.cols == 0)
    return fail("has an empty box");
  if (tile.layout == Layout::ND && uint64_t(tile.cols) * elementBits(tile.type) % 256)
    return fail("has rows of " + std::to_string(tile.cols) + " elements, which is no multiple of 32 bytes");
  if (tile.layout == Layout::DN && uint64_t(tile.rows) * elementBits(tile.type) % 256)
    return fail("has columns of " + std::to_string(tile.rows) + " elements, which is no multiple of 32 bytes");
  if (tile.rows % box.rows || tile.cols % box.cols)
    return fail("has a box of " + std::to_string(tile.rows) + "x" + std::to_string(tile.cols) + ", no multiple of " +
                std::to_string(box.rows) + "x" + std::to_string(box.cols));

  bool knownRows = !tile.validRows.isRegister, knownCols = !tile.validCols.isRegister;
  if ((knownRows && (tile.validRows.value < 0 || tile.validRows.value > tile.rows)) ||
      (knownCols && (tile.validCols.value < 0 || tile.validCols.value > tile.cols)))
    return fail("has a valid region of " + extents(tile) + " in a box of " + std::to_string(tile.rows) + "x" +
                std::to_string(tile.cols));
  if (tile.address.isRegister)
    return std::nullopt;
  const MemoryInfo &limits = archInfo(arch).memory(memory);
  if (tile.address.value < 0 || tile.address.value % limits.alignment)
    return fail("has address " + std::to_string(tile.address.value) + ", " + memoryName + " needs multiples of " +
                std::to_string(limits.alignment));
  uint64_t bytes = knownRows && knownCols ? tileExtent(tile.layout, tile.type, tile.rows, tile.cols,
                                                       uint64_t(tile.validRows.value), uint64_t(tile.validCols.value))
                                          : 0;
  if (uint64_t(tile.address.value) + bytes > limits.bytes)
    return fail("ends at byte " + std::to_string(uint64_t(tile.address.value) + bytes) + ", " + memoryName + " has " +
                std::to_string(limits.bytes));
  return std::nullopt;
}

namespace {
struct TileCollector : OperandVisitor {
  const Tile *tiles[6];
  unsigned operand[6];
  unsigned count = 0;
  void tile(unsigned k, Tile &t) {
    tiles[count] = &t;
    operand[count++] = k;
  }
};

bool differ(const Value &a, const Value &b) { return !a.isRegister && !b.isRegister && a.value != b.value; }
} // namespace

std::optional<std::string> checkShapes(const DecodedInsn &insn) {
  const InsnInfo &info = infoOf(insn.opcode);
  if (info.shape == Shape::any)
    return std::nullopt;
  TileCollector c;
  visit(insn, [&](const auto &typed) { visitOperands(const_cast<std::decay_t<decltype(typed)> &>(typed), c); });
  const Tile &dst = *c.tiles[0], &last = *c.tiles[c.count - 1];
  auto expect = [&](const Tile &tile, const Value &rows, const Value &cols) -> std::optional<std::string> {
    if (!differ(tile.validRows, rows) && !differ(tile.validCols, cols))
      return std::nullopt;
    unsigned k = 0;
    while (c.tiles[k] != &tile)
      ++k;
    auto show = [](const Value &v) { return (v.isRegister ? "r" : "") + std::to_string(v.value); };
    return std::string("operand '") + info.operands[c.operand[k]].name + "' has a valid region of " +
           show(tile.validRows) + "x" + show(tile.validCols) + ", expects " + show(rows) + "x" + show(cols);
  };
  auto firstOf = [](std::initializer_list<std::optional<std::string>> errors) {
    for (const auto &e : errors)
      if (e)
        return e;
    return std::optional<std::string>();
  };

  switch (info.shape) {
  case Shape::same:
    for (unsigned i = 1; i < c.count; ++i)
      if (auto error = expect(*c.tiles[i], dst.validRows, dst.validCols))
        return error;
    return std::nullopt;
  case Shape::rowReduce:
    return expect(dst, last.validRows, Value(1));
  case Shape::colReduce:
    return expect(dst, Value(1), last.validCols);
  case Shape::transpose:
    return expect(dst, last.validCols, last.validRows);
  case Shape::rowExpand:
    return firstOf(
        {expect(*c.tiles[c.count == 3], dst.validRows, dst.validCols), expect(last, dst.validRows, last.validCols)});
  case Shape::colExpand:
    return firstOf(
        {expect(*c.tiles[c.count == 3], dst.validRows, dst.validCols), expect(last, last.validRows, dst.validCols)});
  case Shape::matmul: {
    bool acc = insn.opcode == Opcode::TMatmulAcc, bias = insn.opcode == Opcode::TMatmulBias;
    const Tile &a = *c.tiles[1 + acc], &b = *c.tiles[2 + acc];
    for (const Value *extent : {&dst.validRows, &dst.validCols, &a.validCols})
      if (!extent->isRegister && extent->value > int64_t(kMostProductExtent))
        return "m, k and n of a product are at most " + std::to_string(kMostProductExtent) + ", got " +
               std::to_string(extent->value);
    return firstOf({expect(a, dst.validRows, a.validCols), expect(b, a.validCols, dst.validCols),
                    acc ? expect(*c.tiles[1], dst.validRows, dst.validCols) : std::nullopt,
                    bias ? expect(last, Value(1), dst.validCols) : std::nullopt});
  }
  default:
    return std::nullopt;
  }
}

} // namespace pto_mlir::isa
