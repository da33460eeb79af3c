// The access pattern of each operand (AccessPattern, ISA/ISABase.td) gives the bytes that it reads or writes.
#include "Checked/Accesses.h"

#include "pto_mlir/ISA/OperandList.h"
#include "pto_mlir/Support/MathExtras.h"

#include <algorithm>

namespace pto_mlir::cmodel {
namespace {

// Runs of an NZ or ZN rectangle. Groups of `group` minors; inside a group the majors are contiguous (NZ: columns are
// minor, ZN: rows).
void groupedRuns(uint64_t base, uint64_t bytes, uint64_t group, uint64_t allMajors, uint64_t major, uint64_t majors,
                 uint64_t minor, uint64_t minors, std::vector<ByteRuns> &runs) {
  uint64_t line = group * bytes, groupPitch = allMajors * line, end = minor + minors;
  while (minor < end) {
    uint64_t inside = minor % group, width = std::min(group - inside, end - minor);
    uint64_t at = base + minor / group * groupPitch + major * line + inside * bytes;
    if (width < group) {
      runs.push_back({at, width * bytes, int64_t(line), majors});
      minor += width;
      continue;
    }
    uint64_t whole = (end - minor) / group;
    runs.push_back({at, majors * line, int64_t(groupPitch), whole});
    minor += whole * group;
  }
}

// Runs of a ZZ or NN rectangle. Blocks of 16 majors; inside a block, boxes of 16 majors x `group` minors are contiguous
// (ZZ: columns are minor, NN: rows).
void boxedRuns(uint64_t base, uint64_t bytes, uint64_t group, uint64_t allMinors, uint64_t major, uint64_t majors,
               uint64_t minor, uint64_t minors, std::vector<ByteRuns> &runs) {
  uint64_t block = 16 * allMinors * bytes, end = major + majors;
  while (major < end) {
    uint64_t inside = major % 16, n = std::min(16 - inside, end - major);
    groupedRuns(base + major / 16 * block, bytes, group, 16, inside, n, minor, minors, runs);
    major += n;
  }
}

/// The operands that select a part of a tile, by name; 0 if the instruction does not have one.
struct PartOperands {
  uint64_t row = 0, col = 0, srcRow = 0, srcCol = 0, rows = 0, cols = 0, index = 0;

  explicit PartOperands(const isa::DecodedInsn &insn) {
    isa::visit(insn, [&](const auto &i) {
      auto take = [](uint64_t &into, const isa::Value &from) { into = uint64_t(from.value); };
      if constexpr (requires { i.row.value; })
        take(row, i.row);
      if constexpr (requires { i.col.value; })
        take(col, i.col);
      if constexpr (requires { i.srcRow.value; })
        take(srcRow, i.srcRow), take(srcCol, i.srcCol);
      if constexpr (requires { i.rows.value; })
        take(rows, i.rows), take(cols, i.cols);
      if constexpr (requires { i.index.value; })
        take(index, i.index);
    });
  }
};

/// Whether the instruction copies src into a part of dst.
bool placesSrc(isa::Opcode opcode) {
  return opcode == isa::Opcode::TFillpad || opcode == isa::Opcode::TFillpadL1 || opcode == isa::Opcode::TInsertUb ||
         opcode == isa::Opcode::TInsertL1;
}

/// The vector cores of the block that a cube instruction writes to.
isa::TargetCores targetCores(const isa::DecodedInsn &insn) {
  return isa::visit(insn, [](const auto &i) {
    if constexpr (requires { i.cores; })
      return i.cores;
    else
      return isa::TargetCores::halfRows;
  });
}

class Collector {
public:
  Collector(const isa::DecodedInsn &insn, Core &core, AccessList &out) : insn(insn), core(core), out(out), o(insn) {}
  void run();

private:
  using Pattern = isa::AccessPattern;
  using Rect = TileRect;

  static uint64_t rows(const isa::Tile &t) { return uint64_t(t.validRows.value); }
  static uint64_t cols(const isa::Tile &t) { return uint64_t(t.validCols.value); }
  static Rect validOf(const isa::Tile &t) { return {0, 0, rows(t), cols(t)}; }
  static Rect boxOf(const isa::Tile &t) { return {0, 0, t.rows, t.cols}; }

  void tile(unsigned i, bool writes);
  void view(const isa::View &view, Pattern pattern, bool writes);
  Rect rectOf(unsigned i) const;
  Rect partOf(Pattern pattern) const;
  void lane(unsigned i);
  LaneResult resultOfLanes() const;

  void add(AccessKind kind, unsigned i, Rect rect) {
    if (rect.rows == 0 || rect.cols == 0)
      return;
    size_t first = out.runs.size();
    tileRuns(*o.tiles[i], rect.row, rect.col, rect.rows, rect.cols, out.runs);
    out.accesses.push_back({kind, false, isa::memoryOf(insn, o.operand(i)), first, out.runs.size()});
  }
  void bytes(AccessKind kind, unsigned i, ByteRuns runs) {
    out.accesses.push_back({kind, false, isa::memoryOf(insn, o.operand(i)), out.runs.size(), out.runs.size() + 1});
    out.runs.push_back(runs);
  }
  /// A rectangle of a tile in the memory of another core; no access if that core is not part of the launch.
  void inPeer(std::optional<size_t> peer, unsigned i, Rect rect) {
    size_t before = out.accesses.size();
    if (peer)
      add(AccessKind::Write, i, rect);
    if (out.accesses.size() > before)
      out.accesses.back().peer = peer;
  }
  void inVectorCores(unsigned i);
  void wholeBoxes(unsigned i);
  void maskBits(AccessKind kind, unsigned i, const isa::Tile &of, bool wholeElements);
  void element(AccessKind kind, unsigned i);
  void picked(unsigned i);
  void imageReads(const isa::TImg2col &image);
  void viewPart(AccessKind kind, const isa::View &view, uint64_t n, uint64_t m);
  void tileIndices(const isa::View &view);

  const isa::DecodedInsn &insn;
  Core &core;
  AccessList &out;
  isa::OperandList o;
};

/// Collects reads before writes.
void Collector::run() {
  for (bool writes : {false, true}) {
    unsigned tiles = 0, views = 0;
    for (const isa::OperandInfo &operand : o.info.operands) {
      bool takesPart =
          operand.direction == isa::Direction::InOut || (operand.direction == isa::Direction::Out) == writes;
      if (operand.kind == isa::OperandKind::Tile) {
        if (takesPart)
          tile(tiles, writes);
        ++tiles;
      } else if (operand.kind == isa::OperandKind::View) {
        if (takesPart)
          view(views ? *o.indexView : *o.globalView, operand.access, writes);
        ++views;
      }
    }
  }
  if (!out.lanes.empty())
    out.result = resultOfLanes();
}

/// Adds the accesses of tile operand `i`.
void Collector::tile(unsigned i, bool writes) {
  AccessKind kind = writes ? AccessKind::Write : AccessKind::Read;
  switch (o.operand(i).access) {
  case Pattern::wholeBoxes:
    return wholeBoxes(i);
  case Pattern::vectorCores:
    return inVectorCores(i);
  case Pattern::peerPart:
    return inPeer(core.peerWith(isa::Memory::L1, 0), i, rectOf(i));
  case Pattern::maskOfSrc:
    return maskBits(kind, i, o.srcTile(), true);
  case Pattern::maskOfDst:
    return maskBits(kind, i, o.dstTile(), false);
  case Pattern::picked:
    return picked(i);
  case Pattern::element:
    return element(kind, i);
  case Pattern::image:
    return imageReads(insn.as<isa::TImg2col>());
  case Pattern::lane:
  case Pattern::dstWindow:
  case Pattern::transposed:
  case Pattern::rowStatistic:
  case Pattern::colStatistic:
    if (writes || isa::memoryOf(insn, o.operand(0)) == isa::Memory::L0C) // a product adds up
      return add(kind, i, rectOf(i));
    return lane(i);
  case Pattern::srcLane:
  case Pattern::indexed:
    return add(AccessKind::Pick, i, rectOf(i));
  default:
    if (!writes && placesSrc(insn.opcode))
      return lane(i);
    return add(kind, i, rectOf(i));
  }
}

/// Adds a read of which each element affects its own elements of dst.
void Collector::lane(unsigned i) {
  using Order = LaneSource::Order;
  Pattern pattern = o.operand(i).access;
  Order order = pattern == Pattern::transposed     ? Order::Transposed
                : pattern == Pattern::rowStatistic ? Order::OfRow
                : pattern == Pattern::colStatistic ? Order::OfColumn
                                                   : Order::Same;
  out.lanes.push_back({o.tiles[i], nullptr, isa::memoryOf(insn, o.operand(i)), rectOf(i), order});
  add(AccessKind::Lane, i, rectOf(i));
}

LaneResult Collector::resultOfLanes() const {
  isa::Memory memory = isa::memoryOf(insn, o.operand(0));
  switch (o.operand(0).access) {
  case Pattern::peerPart:
    return {o.tiles[0], memory, partOf(Pattern::peerPart), core.peerWith(isa::Memory::L1, 0)};
  case Pattern::box: // a fill around src
    return {o.tiles[0], memory, validOf(o.srcTile())};
  case Pattern::srcWindow:
    return {o.tiles[0], memory, partOf(Pattern::srcWindow)};
  default:
    return {o.tiles[0], memory, validOf(o.dstTile())};
  }
}

/// The rectangle of tile operand `i` that is accessed.
Collector::Rect Collector::rectOf(unsigned i) const {
  const isa::Tile &t = *o.tiles[i], &dst = o.dstTile();
  isa::Box box = isa::innerBox(t.layout, t.type);
  switch (Pattern pattern = o.operand(i).access) {
  case Pattern::box:
  case Pattern::indexed:
    return boxOf(t);
  case Pattern::wholeGroups:
    return {0, 0, rows(t), roundUp(cols(t), box.cols)};
  case Pattern::loaded:
    if (t.layout == isa::Layout::NZ && o.globalView->layout != isa::Layout::NZ)
      return {0, 0, rows(t), roundUp(cols(t), box.cols)};
    return {0, 0, t.layout == isa::Layout::ZN ? roundUp(rows(t), box.rows) : rows(t), cols(t)};
  case Pattern::lane:
  case Pattern::asDst:
    return validOf(dst);
  case Pattern::srcLane:
  case Pattern::asSrc:
    return validOf(o.srcTile());
  case Pattern::dstRows:
    return {0, 0, rows(dst), cols(t)};
  case Pattern::dstCols:
    return {0, 0, rows(t), cols(dst)};
  case Pattern::transposed:
    return {0, 0, cols(dst), rows(dst)};
  case Pattern::rowStatistic:
    return {0, 0, rows(dst), 1};
  case Pattern::colStatistic:
    return {0, 0, 1, cols(dst)};
  case Pattern::srcColStatistic:
    return {0, 0, 1, cols(o.srcTile())};
  case Pattern::rightOperand:
    return {0, 0, cols(*o.tiles[i - 1]), cols(dst)};
  case Pattern::blockOffsets:
    return {0, 0, rows(dst), (cols(dst) * isa::elementBits(dst.type) / 8 + 31) / 32};
  case Pattern::dstWindow:
  case Pattern::srcWindow:
  case Pattern::part:
  case Pattern::peerPart:
  case Pattern::srcPart:
  case Pattern::partColStatistic:
    return partOf(pattern);
  default:
    return validOf(t);
  }
}

/// A rectangle whose position is given by operands.
Collector::Rect Collector::partOf(Pattern pattern) const {
  PartOperands at(insn);
  switch (pattern) {
  case Pattern::dstWindow:
    return {at.row, at.col, rows(o.dstTile()), cols(o.dstTile())};
  case Pattern::srcWindow:
    return {at.row, at.col, rows(o.srcTile()), cols(o.srcTile())};
  case Pattern::srcPart:
    return {at.srcRow, at.srcCol, at.rows, at.cols};
  case Pattern::partColStatistic:
    return {0, 0, 1, at.cols};
  default:
    return {at.row, at.col, at.rows, at.cols};
  }
}

/// Whole boxes are written; bytes outside the valid region become undefined.
void Collector::wholeBoxes(unsigned i) {
  const isa::Tile &t = *o.tiles[i];
  isa::Box box = isa::innerBox(t.layout, t.type);
  Rect valid = validOf(t), whole = {0, 0, roundUp(valid.rows, box.rows), roundUp(valid.cols, box.cols)};
  if (whole.rows != valid.rows || whole.cols != valid.cols)
    add(AccessKind::Touch, i, whole);
  add(AccessKind::Write, i, valid);
}

void Collector::inVectorCores(unsigned i) {
  isa::TargetCores cores = targetCores(insn);
  for (uint32_t subblock = 0; subblock < isa::kMostVectorCores; ++subblock)
    if (cores != (subblock ? isa::TargetCores::first : isa::TargetCores::second))
      inPeer(core.peerWith(isa::Memory::UB, subblock), i, validOf(*o.tiles[i]));
}

/// The rows of a mask, one bit per column of `of`.
void Collector::maskBits(AccessKind kind, unsigned i, const isa::Tile &of, bool wholeElements) {
  const isa::Tile &mask = *o.tiles[i];
  uint64_t element = isa::elementBits(mask.type) / 8, length = (cols(of) + 7) / 8;
  if (wholeElements)
    length = roundUp(length, element);
  if (length > 0 && rows(of) > 0)
    bytes(kind, i, {uint64_t(mask.address.value), length, int64_t(mask.cols * element), rows(of)});
}

/// A single element, by its row-major index.
void Collector::element(AccessKind kind, unsigned i) {
  const isa::Tile &t = *o.tiles[i];
  uint64_t size = isa::elementBits(t.type) / 8;
  bytes(kind, i, {uint64_t(t.address.value) + PartOperands(insn).index * size, size, 0, 1});
}

/// The elements that the mask pattern selects from src, stored contiguously.
void Collector::picked(unsigned i) {
  static constexpr unsigned first[] = {0, 1, 0, 1, 2, 3, 0}, step[] = {2, 2, 4, 4, 4, 4, 1};
  const isa::Tile &src = o.srcTile();
  auto pattern = unsigned(insn.as<isa::TGatherMask>().pattern);
  uint64_t ofRow = cols(src) > first[pattern] ? (cols(src) - first[pattern] + step[pattern] - 1) / step[pattern] : 0;
  if (uint64_t count = ofRow * rows(src); count > 0)
    bytes(AccessKind::Write, i, {uint64_t(o.tiles[i]->address.value), count * isa::elementBits(src.type) / 8, 0, 1});
}

static AccessKind kindOfView(const isa::DecodedInsn &insn, bool writes) {
  if (insn.opcode == isa::Opcode::WaitCell || isa::addsToGlobal(insn))
    return AccessKind::Add;
  if (insn.opcode == isa::Opcode::Notify)
    return insn.as<isa::Notify>().mode == isa::NotifyMode::set ? AccessKind::Set : AccessKind::Add;
  return writes ? AccessKind::Write : AccessKind::Read;
}

/// Adds the access of a view operand.
void Collector::view(const isa::View &view, Pattern pattern, bool writes) {
  AccessKind kind = kindOfView(insn, writes);
  if (pattern == Pattern::tileExtent) {
    if (kind == AccessKind::Read) {
      kind = AccessKind::Lane;
      out.lanes.push_back({nullptr, &view, {}, validOf(o.dstTile())});
    }
    return viewPart(kind, view, rows(o.dstTile()), cols(o.dstTile()));
  }
  if (pattern == Pattern::oneElement)
    return viewPart(kind, view, 1, 1);
  if (pattern == Pattern::tileIndices)
    return tileIndices(view);
  if (pattern == Pattern::wholeView) {
    GlobalView whole = core.view(view);
    return viewPart(kind, view, uint64_t(whole.rows()), uint64_t(whole.cols()));
  }
}

/// The index view: one index per element of dst, or per row of it.
void Collector::tileIndices(const isa::View &view) {
  uint64_t n = rows(o.dstTile()), m = cols(o.dstTile());
  auto indexCols = uint64_t(core.view(view).cols());
  bool byRow = insn.as<isa::MgatherL1>().unit == isa::IndexUnit::row;
  uint64_t wide = byRow ? std::min(indexCols, n) : m;
  if (wide > 0)
    viewPart(AccessKind::Read, view, byRow ? ceilDiv(n, wide) : n, wide);
}

/// The first n rows and m columns of a view.
void Collector::viewPart(AccessKind kind, const isa::View &view, uint64_t n, uint64_t m) {
  GlobalView v = core.view(view);
  if (!v.base || n == 0 || m == 0)
    return;
  size_t first = out.runs.size();
  cost::viewRuns(view, reinterpret_cast<uint64_t>(v.base), n, m, out.runs);
  out.accesses.push_back({kind, true, {}, first, out.runs.size()});
}

// The pixels under the window; the addressing is that of Insns/timg2col.cpp.
void Collector::imageReads(const isa::TImg2col &image) {
  const isa::Tile &dst = *o.tiles[0], &src = *o.tiles[1];
  int64_t element = isa::elementBits(src.type) / 8, c0 = 32 / element, width = image.width, kernelW = image.kernelW;
  int64_t outWidth =
      (width + image.padLeft + image.padRight - int64_t(image.dilationW) * (kernelW - 1) - 1) / image.strideW + 1;
  size_t first = out.runs.size();
  for (int64_t k = 0; k < dst.validCols.value; k += c0) {
    int64_t group = (image.posK.value + k) / c0, window = group % (int64_t(image.kernelH) * kernelW),
            c1 = group / (int64_t(image.kernelH) * kernelW);
    int64_t channels = std::clamp<int64_t>(int64_t(image.channels) - c1 * c0, 0, c0);
    if (channels == 0)
      continue;
    int64_t kh = window / kernelW * image.dilationH - image.padTop.value,
            kw = window % kernelW * image.dilationW - image.padLeft;
    int64_t oh = image.posM.value / outWidth, ow = image.posM.value % outWidth;
    for (int64_t r = 0; r < dst.validRows.value; ++oh, ow = 0) {
      int64_t n = std::min(dst.validRows.value - r, outWidth - ow);
      r += n;
      int64_t h = oh * image.strideH + kh, w = ow * image.strideW + kw, stride = image.strideW;
      if (h < 0 || h >= image.height.value)
        continue;
      int64_t skip = w < 0 ? (-w + stride - 1) / stride : 0;
      int64_t count = std::min(n, (width - w + stride - 1) / stride) - skip;
      if (count > 0)
        out.runs.push_back({uint64_t(src.address.value + (c1 * src.rows + h * width + w + skip * stride) * 32),
                            uint64_t(channels * element), stride * 32, uint64_t(count)});
    }
  }
  if (out.runs.size() > first)
    out.accesses.push_back({AccessKind::Read, false, isa::Memory::L1, first, out.runs.size()});
}

} // namespace

void tileRuns(const isa::Tile &tile, uint64_t row, uint64_t col, uint64_t rows, uint64_t cols,
              std::vector<ByteRuns> &runs) {
  isa::Tile t = tile;
  if (isa::elementBits(t.type) == 4) { // two elements per byte, along the innermost dimension of the layout
    bool byRow = t.layout == isa::Layout::DN || t.layout == isa::Layout::ZN || t.layout == isa::Layout::NN;
    uint64_t &first = byRow ? row : col, &count = byRow ? rows : cols;
    count = (first % 2 + count + 1) / 2;
    first /= 2;
    (byRow ? t.rows : t.cols) /= 2;
    t.type = isa::ElementType::u8;
  }
  auto base = uint64_t(t.address.value);
  uint64_t bytes = isa::elementBits(t.type) / 8;
  isa::Box box = isa::innerBox(t.layout, t.type);
  switch (t.layout) {
  case isa::Layout::ND:
    if (cols == t.cols)
      return runs.push_back({base + row * t.cols * bytes, rows * cols * bytes, 0, 1});
    return runs.push_back({base + (row * t.cols + col) * bytes, cols * bytes, int64_t(t.cols * bytes), rows});
  case isa::Layout::DN:
    if (rows == t.rows)
      return runs.push_back({base + col * t.rows * bytes, rows * cols * bytes, 0, 1});
    return runs.push_back({base + (col * t.rows + row) * bytes, rows * bytes, int64_t(t.rows * bytes), cols});
  case isa::Layout::NZ:
  case isa::Layout::NZ16:
    return groupedRuns(base, bytes, box.cols, t.rows, row, rows, col, cols, runs);
  case isa::Layout::ZN:
    return groupedRuns(base, bytes, box.rows, t.cols, col, cols, row, rows, runs);
  case isa::Layout::ZZ:
    return boxedRuns(base, bytes, box.cols, t.cols, row, rows, col, cols, runs);
  case isa::Layout::NN:
    return boxedRuns(base, bytes, box.rows, t.rows, col, cols, row, rows, runs);
  }
}

void collectAccesses(const isa::DecodedInsn &insn, Core &core, AccessList &out) { Collector(insn, core, out).run(); }

} // namespace pto_mlir::cmodel
