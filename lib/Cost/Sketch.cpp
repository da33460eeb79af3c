#include "pto_mlir/Cost/Sketch.h"

#include "SketchCore.h"
#include "pto_mlir/ISA/OperandList.h"

#include <algorithm>
#include <map>
#include <string>

namespace pto_mlir::cost {
namespace {

using isa::Memory;

template <class Names> std::optional<unsigned> numberOf(const Names &names, std::string_view name) {
  for (unsigned i = 0; i < std::size(names); ++i)
    if (names[i] && name == names[i])
      return i;
  return std::nullopt;
}

/// The row that a move between memories is; null for an op that is no such move.
const char *moveRow(std::string_view name, Memory to, Memory from) {
  struct Move {
    std::string_view op;
    Memory from, to;
    const char *row;
  };
  static constexpr Move moves[] = {
      {"tmov", Memory::UB, Memory::UB, "tmov"},
      {"tmov", Memory::L1, Memory::L0A, "textract_l0a"},
      {"tmov", Memory::L1, Memory::L0B, "textract_l0b"},
      {"tmov", Memory::L1, Memory::BT, "tmov_bt"},
      {"tmov", Memory::L1, Memory::FB, "tmov_fb"},
      {"tmov", Memory::L0C, Memory::L1, "tmov_acc"},
      {"tmov", Memory::L0C, Memory::UB, "tmov_acc_ub"},
      {"tmov", Memory::UB, Memory::L1, "tinsert_l1"},
      {"textract", Memory::L1, Memory::L0A, "textract_l0a"},
      {"textract", Memory::L1, Memory::L0B, "textract_l0b"},
      {"textract", Memory::UB, Memory::UB, "textract_ub"},
      {"tinsert", Memory::L0C, Memory::L1, "tinsert_acc"},
      {"tinsert", Memory::UB, Memory::UB, "tinsert_ub"},
      {"tinsert", Memory::UB, Memory::L1, "tinsert_l1"},
  };
  for (const Move &move : moves)
    if (move.op == name && move.from == from && move.to == to)
      return move.row;
  return nullptr;
}

const isa::InsnInfo *rowOf(std::string_view name, std::span<const SketchTile> written,
                           std::span<const SketchTile> read) {
  Memory to = written.empty() ? Memory::UB : Memory(written.back().memory),
         from = read.empty() ? Memory::UB : Memory(read[0].memory);
  if (const char *move = moveRow(name, to, from))
    return isa::findInsn(move);
  if (name == "tstore" && from == Memory::L0C)
    return isa::findInsn("tstore_acc");
  if ((name == "texpands" || name == "tfillpad") && to == Memory::L1)
    return isa::findInsn(std::string(name) + "_l1");
  if (name == "tgather" && read.size() == 1)
    return isa::findInsn("tgather_mask");
  if (name == "tmrgsort" && read.size() > 1)
    return isa::findInsn("tmrgsort" + std::to_string(read.size()));
  std::string row(name);
  std::replace(row.begin(), row.end(), '.', '_');
  return isa::findInsn(row);
}

isa::Tile toTile(const SketchTile &t) {
  isa::Tile tile;
  tile.type = isa::ElementType(t.type), tile.layout = isa::Layout(t.layout);
  tile.rows = uint16_t(t.rows), tile.cols = uint16_t(t.cols);
  tile.validRows = t.validRows, tile.validCols = t.validCols, tile.address = int64_t(t.address);
  return tile;
}

isa::View toView(const SketchView &v) {
  isa::View view;
  view.arg = uint8_t(v.arg), view.type = isa::ElementType(v.type), view.layout = isa::Layout(v.layout);
  unsigned skip = 0; // leading dimensions of size 1 say nothing
  while (view.layout != isa::Layout::NZ && v.rank - skip > 2 && v.sizes[skip] == 1)
    ++skip;
  view.rank = uint8_t(v.rank - skip), view.offset = v.offset;
  for (unsigned i = skip; i < v.rank; ++i)
    view.sizes[i - skip] = v.sizes[i], view.strides[i - skip] = v.strides[i];
  return view;
}

/// A product is as large as its operands: its result's tile may hold more.
void fitProduct(isa::OperandList &o) {
  if (o.info.cost->form != isa::CostForm::product)
    return;
  auto &result = const_cast<isa::Tile &>(o.dstTile());
  for (unsigned i = 0; i < o.numTiles; ++i) {
    if (o.operand(i).memories >> unsigned(Memory::L0A) & 1)
      result.validRows.value = std::min(result.validRows.value, o.tiles[i]->validRows.value);
    if (o.operand(i).memories >> unsigned(Memory::L0B) & 1)
      result.validCols.value = std::min(result.validCols.value, o.tiles[i]->validCols.value);
  }
}

/// Gives the tile operands of a row their tiles: those that it writes in order, the others by memory, in order. False
/// when they do not fit.
bool fillTiles(isa::OperandList &o, std::span<const SketchTile> written, std::span<const SketchTile> read) {
  unsigned outputs = 0;
  for (unsigned i = 0; i < o.numTiles; ++i)
    outputs += o.isWritten(i);
  if (written.size() < outputs)
    return false;
  written = written.last(outputs); // scratch comes before results
  // A result that the instruction also reads (an accumulator) is not one of its inputs.
  while (read.size() > o.numTiles - outputs && outputs && read[0].address == written[0].address)
    read = read.subspan(1);
  std::vector<bool> used(read.size());
  size_t nextWritten = 0;
  for (unsigned i = 0; i < o.numTiles; ++i) {
    auto &tile = const_cast<isa::Tile &>(*o.tiles[i]);
    if (o.isWritten(i)) {
      tile = toTile(written[nextWritten++]);
      continue;
    }
    size_t at = 0;
    while (at < read.size() && (used[at] || !(o.operand(i).memories >> read[at].memory & 1)))
      ++at;
    if (at == read.size())
      return false;
    used[at] = true;
    tile = toTile(read[at]);
  }
  return true;
}

} // namespace

std::optional<unsigned> memoryNumber(std::string_view name) { return numberOf(isa::kMemoryNames, name); }
std::optional<unsigned> elementTypeNumber(std::string_view name) { return numberOf(isa::kElementTypeNames, name); }

struct Sketch::Impl {
  explicit Impl(const isa::ChipInfo &chip) : chip(chip) {}

  /// As `rowOf`, looked up once for each name as it lies in memory.
  const isa::InsnInfo *row(std::string_view name, std::span<const SketchTile> written,
                           std::span<const SketchTile> read) {
    unsigned memories = (written.empty() ? 0 : written.back().memory) << 8 | (read.empty() ? 0 : read[0].memory);
    auto [entry, isNew] = rows.try_emplace({name.data(), (name.size() << 8 | read.size()) << 16 | memories});
    if (isNew)
      entry->second = rowOf(name, written, read);
    return entry->second;
  }

  std::map<std::pair<const char *, size_t>, const isa::InsnInfo *> rows;
  const isa::ChipInfo &chip;
  std::vector<std::unique_ptr<SketchCore>> cores;
};

Sketch::Sketch(std::string_view architecture)
    : impl(std::make_unique<Impl>(isa::chipInfo(isa::findArch(architecture)->arch))) {}
Sketch::~Sketch() = default;

void Sketch::beginCore(bool cube, unsigned block, unsigned subblock) {
  impl->cores.push_back(
      std::make_unique<SketchCore>(impl->chip, cube ? isa::CoreKind::AIC : isa::CoreKind::AIV, block, subblock));
}

bool Sketch::note(std::string_view name, unsigned pipe, std::span<const SketchTile> written,
                  std::span<const SketchTile> read, const SketchView *view, std::span<const SketchAccess> accesses) {
  const isa::InsnInfo *row = impl->row(name, written, read);
  if (!row)
    return false;
  isa::DecodedInsn insn{};
  insn.opcode = row->opcode;
  isa::visit(insn, [&](auto &typed) {
    typed = {};
    if constexpr (isa::detail::HasSpace<std::decay_t<decltype(typed)>>::value)
      typed.space = Memory(written.empty() ? (read.empty() ? 0 : read[0].memory) : written.back().memory);
  });
  isa::OperandList o(insn);
  if (!fillTiles(o, written, read) || (o.globalView && !view))
    return false;
  if (o.globalView) {
    isa::View &into = const_cast<isa::View &>(*o.globalView);
    into = toView(*view);
    // Into boxes of columns a view goes column by column.
    if (row->opcode == isa::Opcode::TLoad && o.dstTile().layout == isa::Layout::ZN && into.layout == isa::Layout::ND &&
        into.rank == 2)
      into.layout = isa::Layout::DN;
  }
  fitProduct(o);
  impl->cores.back()->note(insn, isa::Pipe(pipe), accesses);
  return true;
}

void Sketch::setFlag(unsigned src, unsigned dst, unsigned id) {
  impl->cores.back()->flag(isa::Pipe(src), Event::Signal, isa::Pipe(src), isa::Pipe(dst), id);
}

void Sketch::waitFlag(unsigned src, unsigned dst, unsigned id) {
  impl->cores.back()->flag(isa::Pipe(dst), Event::Await, isa::Pipe(src), isa::Pipe(dst), id);
}

void Sketch::raise(unsigned pipe, unsigned id) {
  impl->cores.back()->cross(isa::Pipe(pipe), Event::CrossRaise, uint32_t(isa::CrossMode::block) << 8 | id);
}

void Sketch::await(std::span<const unsigned> pipes, unsigned id) { impl->cores.back()->crossAwait(pipes, id); }

double Sketch::cycles() const {
  std::vector<CoreLog> logs;
  std::vector<std::vector<ByteRuns>> runs;
  for (const auto &core : impl->cores) {
    logs.push_back(core->finish());
    runs.push_back(core->runs());
  }
  return play(impl->chip, logs, Tied::Block, hbmTraffic(impl->chip, logs, runs), 0).end;
}

} // namespace pto_mlir::cost
