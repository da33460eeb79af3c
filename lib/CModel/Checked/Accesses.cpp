// The table says which operands are read and written and how their shapes relate; the few instructions that touch
// something else than their tiles' valid regions have a case of their own.
#include "Checked/Accesses.h"

#include "OperandList.h"

#include <algorithm>

namespace pto_mlir::cmodel {
namespace {

// Groups of `group` minors; inside one, majors follow one another (NZ: columns are minor, ZN: rows).
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

// Blocks of 16 majors; inside one, boxes of 16 majors x `group` minors follow one another (ZZ: columns are minor, NN:
// rows).
void boxedRuns(uint64_t base, uint64_t bytes, uint64_t group, uint64_t allMinors, uint64_t major, uint64_t majors,
               uint64_t minor, uint64_t minors, std::vector<ByteRuns> &runs) {
  uint64_t block = 16 * allMinors * bytes, end = major + majors;
  while (major < end) {
    uint64_t inside = major % 16, n = std::min(16 - inside, end - major);
    groupedRuns(base + major / 16 * block, bytes, group, 16, inside, n, minor, minors, runs);
    major += n;
  }
}

class Collector {
public:
  Collector(const isa::DecodedInsn &insn, Core &core, AccessList &out) : insn(insn), core(core), out(out), o(insn) {}
  void run();

private:
  static uint64_t rows(const isa::Tile &t) { return uint64_t(t.validRows.value); }
  static uint64_t cols(const isa::Tile &t) { return uint64_t(t.validCols.value); }
  isa::Memory memoryOf(unsigned i) const { return isa::memoryOf(insn, o.info.operands[o.tileOperand[i]]); }

  void part(AccessKind kind, unsigned i, uint64_t row, uint64_t col, uint64_t n, uint64_t m) {
    if (n == 0 || m == 0)
      return;
    size_t first = out.runs.size();
    tileRuns(*o.tiles[i], row, col, n, m, out.runs);
    out.accesses.push_back({kind, false, memoryOf(i), first, out.runs.size()});
  }
  void read(unsigned i, uint64_t n, uint64_t m) { part(AccessKind::Read, i, 0, 0, n, m); }
  void lane(unsigned i, uint64_t n, uint64_t m) {
    part(AccessKind::Lane, i, 0, 0, n, m);
    out.lanes.push_back(o.tiles[i]);
  }
  void write(unsigned i) {
    const isa::Tile &t = *o.tiles[i];
    part(AccessKind::Write, i, 0, 0, rows(t), cols(t));
  }
  /// Whole boxes are overwritten; only the valid part of them means something.
  void writeBoxes(unsigned i) {
    const isa::Tile &t = *o.tiles[i];
    isa::Box box = isa::innerBox(t.layout, t.type);
    auto up = [](uint64_t n, uint64_t to) { return (n + to - 1) / to * to; };
    uint64_t n = up(rows(t), box.rows), m = up(cols(t), box.cols);
    if (n != rows(t) || m != cols(t))
      part(AccessKind::Touch, i, 0, 0, n, m);
    write(i);
  }
  /// One element of the only tile, counted row by row.
  void element(AccessKind kind, int64_t index) {
    const isa::Tile &t = *o.tiles[0];
    uint64_t size = isa::elementBits(t.type) / 8;
    bytes(kind, 0, {uint64_t(t.address.value) + uint64_t(index) * size, size, 0, 1});
  }
  void bytes(AccessKind kind, unsigned i, ByteRuns runs) {
    out.accesses.push_back({kind, false, memoryOf(i), out.runs.size(), out.runs.size() + 1});
    out.runs.push_back(runs);
  }
  void viewPart(AccessKind kind, uint64_t n, uint64_t m) { viewPart(kind, *o.globalView, n, m); }
  void viewPart(AccessKind kind, const isa::View &view, uint64_t n, uint64_t m);
  void maskBits(AccessKind kind, unsigned i, const isa::Tile &of, bool wholeElements);
  void imageReads(const isa::TImg2col &image);
  void byShape();
  /// dst's part in the memory of another core, if that takes part.
  void peerPart(std::optional<size_t> peer, uint64_t row, uint64_t col, uint64_t n, uint64_t m) {
    size_t before = out.accesses.size();
    if (peer)
      part(AccessKind::Write, 0, row, col, n, m);
    if (out.accesses.size() > before)
      out.accesses.back().peer = peer;
  }
  void toVectorCores(isa::TargetCores cores) {
    const isa::Tile &dst = *o.tiles[0], &src = *o.tiles[1];
    read(1, rows(src), this->cols(src));
    if (o.numTiles > 2)
      read(2, 1, this->cols(src));
    for (uint32_t subblock = 0; subblock < 2; ++subblock)
      if (cores != (subblock ? isa::TargetCores::first : isa::TargetCores::second))
        peerPart(core.peerWith(isa::Memory::UB, subblock), 0, 0, rows(dst), this->cols(dst));
  }

  const isa::DecodedInsn &insn;
  Core &core;
  AccessList &out;
  OperandList o;
};

// Rows and columns of a view (docs/commands.md, View; GlobalView::offset).
void Collector::viewPart(AccessKind kind, const isa::View &view, uint64_t n, uint64_t m) {
  GlobalView v = core.view(view);
  if (!v.base || n == 0 || m == 0)
    return;
  size_t first = out.runs.size();
  auto base = reinterpret_cast<uint64_t>(v.base);
  int64_t bytes = v.bytes;
  if (v.layout == isa::Layout::NZ) {
    for (uint64_t r = 0; r < n; ++r)
      for (uint64_t c = 0; c < m; ++c)
        out.runs.push_back({base + uint64_t(v.offset(int64_t(r), int64_t(c)) * bytes), uint64_t(bytes), 0, 1});
  } else {
    bool dn = v.layout == isa::Layout::DN;
    uint64_t majors = dn ? m : n, minors = dn ? n : m, inner = uint64_t(std::max<int64_t>(v.size(dn ? 0 : 1), 1));
    int64_t majorPitch = v.stride(dn ? 0 : 1) * bytes, minorStride = v.stride(dn ? 1 : 0);
    for (uint64_t i = 0; i < majors; i += inner) {
      uint64_t count = std::min(inner, majors - i), at = base + uint64_t(v.leading(int64_t(i / inner)) * bytes);
      if (minorStride == 1 || minors == 1)
        out.runs.push_back({at, minors * uint64_t(bytes), majorPitch, count});
      else
        for (uint64_t j = 0; j < minors; ++j)
          out.runs.push_back({at + uint64_t(int64_t(j) * minorStride * bytes), uint64_t(bytes), majorPitch, count});
    }
  }
  out.accesses.push_back({kind, true, {}, first, out.runs.size()});
}

// A row of a mask: a bit per column of `of`.
void Collector::maskBits(AccessKind kind, unsigned i, const isa::Tile &of, bool wholeElements) {
  const isa::Tile &mask = *o.tiles[i];
  uint64_t element = isa::elementBits(mask.type) / 8, length = (cols(of) + 7) / 8;
  if (wholeElements)
    length = (length + element - 1) / element * element;
  if (length > 0 && rows(of) > 0)
    bytes(kind, i, {uint64_t(mask.address.value), length, int64_t(mask.cols * element), rows(of)});
}

// The pixels under the window, see Insns/timg2col.cpp.
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

// dst comes first in every row; each source is read as far as dst needs it.
void Collector::byShape() {
  const isa::Tile &dst = *o.tiles[0];
  uint64_t n = rows(dst), m = cols(dst);
  for (unsigned i = 0; i < o.numTiles; ++i) {
    const isa::Tile &t = *o.tiles[i];
    if (!o.isRead(i))
      continue;
    bool last = i + 1 == o.numTiles;
    switch (o.info.shape) {
    case isa::Shape::rowReduce:
      read(i, n, cols(t));
      break;
    case isa::Shape::colReduce:
      read(i, rows(t), m);
      break;
    case isa::Shape::transpose:
      read(i, m, n);
      break;
    case isa::Shape::rowExpand:
      read(i, n, last ? 1 : m);
      break;
    case isa::Shape::colExpand:
      read(i, last ? 1 : n, m);
      break;
    case isa::Shape::same:
      lane(i, n, m);
      break;
    default:
      read(i, rows(t), cols(t));
    }
  }
  for (unsigned i = 0; i < o.numTiles; ++i)
    if (o.isWritten(i))
      write(i);
  if (!out.lanes.empty())
    out.lanes.push_back(&dst);
}

void Collector::run() {
  using isa::Opcode;
  switch (insn.opcode) {
  case Opcode::LoadScalar:
    return viewPart(AccessKind::Read, 1, 1);
  case Opcode::StoreScalar:
    return viewPart(AccessKind::Write, 1, 1);
  case Opcode::TGetval:
    return element(AccessKind::Read, insn.as<isa::TGetval>().index.value);
  case Opcode::TSetval:
    return element(AccessKind::Write, insn.as<isa::TSetval>().index.value);
  case Opcode::TGather: { // which elements of src, only the indices know
    const isa::Tile &dst = *o.tiles[0], &src = *o.tiles[1];
    read(2, rows(dst), cols(dst));
    part(AccessKind::Lane, 1, 0, 0, src.rows, src.cols);
    return write(0);
  }
  case Opcode::TGatherb: {
    const isa::Tile &dst = *o.tiles[0], &src = *o.tiles[1];
    read(2, rows(dst), (cols(dst) * isa::elementBits(dst.type) / 8 + 31) / 32);
    part(AccessKind::Lane, 1, 0, 0, src.rows, src.cols);
    return write(0);
  }
  case Opcode::TScatter:
  case Opcode::TScatterS: {
    const isa::Tile &dst = *o.tiles[0], &src = *o.tiles[1];
    read(1, rows(src), cols(src));
    read(2, rows(src), cols(src));
    return part(AccessKind::Write, 0, 0, 0, dst.rows, dst.cols);
  }
  case Opcode::TGatherMask: {
    const isa::Tile &src = *o.tiles[1];
    static constexpr unsigned first[] = {0, 1, 0, 1, 2, 3, 0}, step[] = {2, 2, 4, 4, 4, 4, 1};
    auto pattern = unsigned(insn.as<isa::TGatherMask>().pattern);
    uint64_t picked = cols(src) > first[pattern] ? (cols(src) - first[pattern] + step[pattern] - 1) / step[pattern] : 0;
    read(1, rows(src), cols(src));
    if (picked * rows(src) > 0)
      bytes(AccessKind::Write, 0,
            {uint64_t(o.tiles[0]->address.value), picked * rows(src) * isa::elementBits(src.type) / 8, 0, 1});
    return;
  }
  case Opcode::TScatterMask: {
    const isa::Tile &src = *o.tiles[1]; // taken across rows, as many as the pattern has places
    part(AccessKind::Lane, 1, 0, 0, src.rows, src.cols);
    return write(0);
  }
  case Opcode::TPairreducesum:
    read(1, rows(*o.tiles[1]), cols(*o.tiles[1]));
    return part(AccessKind::Write, 0, 0, 0, o.tiles[0]->rows, o.tiles[0]->cols);
  case Opcode::TInterleave:
  case Opcode::TDeinterleave:
    for (unsigned i = 2; i < 4; ++i)
      read(i, rows(*o.tiles[i]), cols(*o.tiles[i]));
    write(0);
    return write(1);
  case Opcode::TExtractUb:
  case Opcode::TExtractSa:
  case Opcode::TExtractSb: {
    auto from = [&](const auto &i) {
      part(AccessKind::Read, 1, uint64_t(i.row.value), uint64_t(i.col.value), rows(i.dst), cols(i.dst));
    };
    if (insn.opcode == Opcode::TExtractUb)
      from(insn.as<isa::TExtractUb>());
    else if (insn.opcode == Opcode::TExtractSa)
      from(insn.as<isa::TExtractSa>());
    else
      from(insn.as<isa::TExtractSb>());
    return write(0);
  }
  case Opcode::TInsertUb:
  case Opcode::TInsertAcc: {
    bool fromAcc = insn.opcode == Opcode::TInsertAcc;
    const isa::Value &row = fromAcc ? insn.as<isa::TInsertAcc>().row : insn.as<isa::TInsertUb>().row;
    const isa::Value &col = fromAcc ? insn.as<isa::TInsertAcc>().col : insn.as<isa::TInsertUb>().col;
    const isa::Tile &src = *o.tiles[1];
    read(1, rows(src), cols(src));
    return part(AccessKind::Write, 0, uint64_t(row.value), uint64_t(col.value), rows(src), cols(src));
  }
  case Opcode::TMovAccQuant:
  case Opcode::TMovAccQuantv: {
    auto move = [&](const auto &i) {
      auto at = [](const isa::Value &v) { return uint64_t(v.value); };
      part(AccessKind::Read, 1, at(i.srcRow), at(i.srcCol), at(i.rows), at(i.cols));
      if (o.numTiles > 2)
        read(2, 1, at(i.cols));
      part(AccessKind::Write, 0, at(i.row), at(i.col), at(i.rows), at(i.cols));
    };
    return insn.opcode == Opcode::TMovAccQuant ? move(insn.as<isa::TMovAccQuant>())
                                               : move(insn.as<isa::TMovAccQuantv>());
  }
  case Opcode::TInsertL1: {
    const auto &i = insn.as<isa::TInsertL1>();
    auto at = [](const isa::Value &v) { return uint64_t(v.value); };
    part(AccessKind::Read, 1, at(i.srcRow), at(i.srcCol), at(i.rows), at(i.cols));
    peerPart(core.peerWith(isa::Memory::L1, 0), at(i.row), at(i.col), at(i.rows), at(i.cols));
    return;
  }
  case Opcode::TMovAccUb:
    return toVectorCores(insn.as<isa::TMovAccUb>().cores);
  case Opcode::TMovAccUbQuant:
    return toVectorCores(insn.as<isa::TMovAccUbQuant>().cores);
  case Opcode::TMovAccUbQuantv:
    return toVectorCores(insn.as<isa::TMovAccUbQuantv>().cores);
  case Opcode::Mgather: { // which elements, only the indices know
    read(1, rows(*o.tiles[1]), cols(*o.tiles[1]));
    return write(0);
  }
  case Opcode::MgatherL1: {
    const isa::Tile &dst = *o.tiles[0];
    uint64_t n = rows(dst), m = cols(dst), group = isa::innerBox(dst.layout, dst.type).cols;
    auto indexCols = uint64_t(core.view(*o.indexView).cols());
    bool byRow = insn.as<isa::MgatherL1>().unit == isa::IndexUnit::row;
    uint64_t wide = byRow ? std::min(indexCols, n) : m;
    if (wide > 0)
      viewPart(AccessKind::Read, *o.indexView, byRow ? (n + wide - 1) / wide : n, wide);
    return part(AccessKind::Write, 0, 0, 0, n, (m + group - 1) / group * group);
  }
  case Opcode::Mscatter: {
    const isa::Tile &src = *o.tiles[0];
    read(0, rows(src), cols(src));
    read(1, rows(*o.tiles[1]), cols(*o.tiles[1]));
    bool add = insn.as<isa::Mscatter>().atomic != isa::ScatterOp::none;
    GlobalView view = core.view(*o.globalView);
    return viewPart(add ? AccessKind::Add : AccessKind::Write, uint64_t(view.rows()), uint64_t(view.cols()));
  }
  case Opcode::TMatmulMx:
  case Opcode::TMatmulMxAcc:
  case Opcode::TMatmulMxBias:
    for (unsigned i = 1; i < o.numTiles; ++i)
      read(i, rows(*o.tiles[i]), cols(*o.tiles[i]));
    return writeBoxes(0);
  case Opcode::TFillpadL1:
    read(1, rows(*o.tiles[1]), cols(*o.tiles[1]));
    return part(AccessKind::Write, 0, 0, 0, o.tiles[0]->rows, o.tiles[0]->cols);
  case Opcode::TLoad: {
    const isa::Tile &dst = *o.tiles[0];
    viewPart(AccessKind::Read, rows(dst), cols(dst));
    isa::Box box = isa::innerBox(dst.layout, dst.type);
    uint64_t n = rows(dst), m = cols(dst); // the rest of the last group is written too, with zeros
    if (dst.layout == isa::Layout::NZ && o.globalView->layout != isa::Layout::NZ)
      m = (m + box.cols - 1) / box.cols * box.cols;
    if (dst.layout == isa::Layout::ZN)
      n = (n + box.rows - 1) / box.rows * box.rows;
    return part(AccessKind::Write, 0, 0, 0, n, m);
  }
  case Opcode::TStore:
  case Opcode::TStoreAcc:
  case Opcode::TStoreAccQuant:
  case Opcode::TStoreAccQuantv: {
    const isa::Tile &src = *o.tiles[0];
    bool add = (insn.opcode == Opcode::TStore && insn.as<isa::TStore>().atomic == isa::AtomicMode::add) ||
               (insn.opcode == Opcode::TStoreAcc && insn.as<isa::TStoreAcc>().atomic == isa::AtomicMode::add);
    read(0, rows(src), cols(src));
    if (o.numTiles > 1)
      read(1, 1, cols(src));
    return viewPart(add ? AccessKind::Add : AccessKind::Write, rows(src), cols(src));
  }
  case Opcode::TExtractL0a:
  case Opcode::TExtractL0b: {
    bool left = insn.opcode == Opcode::TExtractL0a;
    int64_t row = left ? insn.as<isa::TExtractL0a>().row.value : insn.as<isa::TExtractL0b>().row.value;
    int64_t col = left ? insn.as<isa::TExtractL0a>().col.value : insn.as<isa::TExtractL0b>().col.value;
    part(AccessKind::Read, 1, uint64_t(row), uint64_t(col), rows(*o.tiles[0]), cols(*o.tiles[0]));
    return writeBoxes(0);
  }
  case Opcode::TMovBt:
  case Opcode::TMovFb: {
    int64_t col = insn.opcode == Opcode::TMovBt ? insn.as<isa::TMovBt>().col.value : insn.as<isa::TMovFb>().col.value;
    part(AccessKind::Read, 1, 0, uint64_t(col), rows(*o.tiles[0]), cols(*o.tiles[0]));
    return write(0);
  }
  case Opcode::TImg2col: {
    imageReads(insn.as<isa::TImg2col>());
    const isa::Tile &dst = *o.tiles[0]; // channels that the image lacks are zeros
    uint64_t group = isa::innerBox(dst.layout, dst.type).cols;
    return part(AccessKind::Write, 0, 0, 0, rows(dst), (cols(dst) + group - 1) / group * group);
  }
  case Opcode::TMatmul:
  case Opcode::TMatmulAcc:
  case Opcode::TMatmulBias: {
    const isa::Tile &dst = *o.tiles[0];
    for (unsigned i = 1; i < o.numTiles; ++i) {
      isa::Memory memory = memoryOf(i);
      uint64_t depth = cols(*o.tiles[insn.opcode == Opcode::TMatmulAcc ? 2 : 1]);
      read(i,
           memory == isa::Memory::L0B  ? depth
           : memory == isa::Memory::BT ? 1
                                       : rows(dst),
           memory == isa::Memory::L0A ? depth : cols(dst));
    }
    return writeBoxes(0);
  }
  case Opcode::TCmp:
  case Opcode::TCmps: // one bit each: a mask counts as written
    for (unsigned i = 1; i < o.numTiles; ++i)
      part(AccessKind::Lane, i, 0, 0, rows(*o.tiles[1]), cols(*o.tiles[1]));
    return maskBits(AccessKind::Write, 0, *o.tiles[1], true);
  case Opcode::TSel:
  case Opcode::TSels:
    maskBits(AccessKind::Read, 1, *o.tiles[0], false);
    for (unsigned i = 2; i < o.numTiles; ++i)
      lane(i, rows(*o.tiles[0]), cols(*o.tiles[0]));
    out.lanes.push_back(o.tiles[0]);
    return write(0);
  case Opcode::TFillpad: {
    read(1, rows(*o.tiles[1]), cols(*o.tiles[1]));
    return part(AccessKind::Write, 0, 0, 0, o.tiles[0]->rows, o.tiles[0]->cols);
  }
  default:
    if (o.numTiles > 0)
      byShape();
  }
}

} // namespace

void tileRuns(const isa::Tile &tile, uint64_t row, uint64_t col, uint64_t rows, uint64_t cols,
              std::vector<ByteRuns> &runs) {
  isa::Tile t = tile;
  if (isa::elementBits(t.type) == 4) { // two to a byte, along the layout's innermost direction
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
