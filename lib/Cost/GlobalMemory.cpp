#include "pto_mlir/Cost/GlobalMemory.h"

#include "pto_mlir/ISA/GlobalView.h"
#include "pto_mlir/ISA/OperandList.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <tuple>
#include <unordered_map>

namespace pto_mlir::cost {

void viewRuns(const isa::View &view, uint64_t base, uint64_t rows, uint64_t cols, std::vector<ByteRuns> &runs) {
  isa::GlobalView v;
  v.type = view.type, v.layout = view.layout, v.rank = view.rank;
  for (unsigned i = 0; i < v.rank; ++i)
    v.sizes[i] = view.sizes[i].value, v.strides[i] = view.strides[i].value;
  int64_t bytes = isa::elementBits(view.type) / 8;
  if (v.layout == isa::Layout::NZ) {
    // Rows of a box are runs of its width, one pitch apart.
    uint64_t width = uint64_t(std::max<int64_t>(v.size(0), 1)), box = uint64_t(std::max<int64_t>(v.size(1), 1));
    int64_t pitch = v.stride(1) * bytes;
    for (uint64_t c = 0; c < cols; c += width)
      for (uint64_t r = 0; r < rows; r += box) {
        uint64_t wide = std::min(width, cols - c), count = std::min(box, rows - r);
        if (v.stride(0) == 1)
          runs.push_back(
              {base + uint64_t(v.offset(int64_t(r), int64_t(c)) * bytes), wide * uint64_t(bytes), pitch, count});
        else
          for (uint64_t j = c; j < c + wide; ++j)
            runs.push_back({base + uint64_t(v.offset(int64_t(r), int64_t(j)) * bytes), uint64_t(bytes), pitch, count});
      }
    return;
  }
  bool dn = v.layout == isa::Layout::DN;
  uint64_t majors = dn ? cols : rows, minors = dn ? rows : cols,
           inner = uint64_t(std::max<int64_t>(v.size(dn ? 0 : 1), 1));
  int64_t majorPitch = v.stride(dn ? 0 : 1) * bytes, minorStride = v.stride(dn ? 1 : 0);
  for (uint64_t i = 0; i < majors; i += inner) {
    uint64_t count = std::min(inner, majors - i), at = base + uint64_t(v.leading(int64_t(i / inner)) * bytes);
    if (minorStride == 1 || minors == 1)
      runs.push_back({at, minors * uint64_t(bytes), majorPitch, count});
    else
      for (uint64_t j = 0; j < minors; ++j)
        runs.push_back({at + uint64_t(int64_t(j) * minorStride * bytes), uint64_t(bytes), majorPitch, count});
  }
}

void noteRuns(const isa::DecodedInsn &insn, Event &event, std::vector<ByteRuns> &runs) {
  event.firstRun = event.endRun = uint32_t(runs.size());
  isa::OperandList o(insn);
  if (!o.globalView || o.numTiles == 0)
    return;
  const isa::View &view = *o.globalView;
  int64_t rows = o.dstTile().validRows.value, cols = o.dstTile().validCols.value;
  bool known = false;
  for (const isa::OperandInfo &operand : o.info.operands)
    known |= operand.access == isa::AccessPattern::tileExtent;
  if (!known || rows <= 0 || cols <= 0)
    return;
  uint64_t base = (uint64_t(view.arg) + 1) << 40;
  viewRuns(view, base + uint64_t(view.offset.value), uint64_t(rows), uint64_t(cols), runs);
  event.endRun = uint32_t(runs.size());
}

namespace {

/// The lines of L2. When it is full, it gives up any of them for a new one: how long a line stays, counted in lines
/// that come, is distributed exponentially. Chance is a hash, so that every run says the same. It is empty at first.
class Cache {
public:
  explicit Cache(const ChipInfo &chip)
      : shift(unsigned(std::countr_zero(uint64_t(chip.lineBytes)))), capacity(uint64_t(chip.l2Bytes / chip.lineBytes)) {
  }

  /// Reads or writes one run of bytes. A line that is written is not fetched, not even for a part of it.
  void touch(uint64_t begin, uint64_t length, bool read) {
    (read ? bytesRead : bytesWritten) += length;
    for (uint64_t line = begin >> shift; line <= (begin + length - 1) >> shift; ++line) {
      if (line >> 6 != pageNumber)
        pageNumber = line >> 6, page = &pages.try_emplace(pageNumber).first->second;
      touchLine(*page, line, read);
    }
  }

  HbmTraffic traffic() const {
    uint64_t back = writtenBack;
    for (const auto &[number, page] : pages)
      for (unsigned i = 0; i < 64; ++i)
        back += (page.dirty >> i & 1) && page.until[i] <= came;
    auto perByte = [this](uint64_t lines, uint64_t bytes) {
      return bytes ? double(lines << shift) / double(bytes) : 0;
    };
    return {perByte(fetched, bytesRead), perByte(back, bytesWritten)};
  }

private:
  struct Page {
    std::array<uint32_t, 64> until{}; // up to which count of lines that came each line stays; 0: it was never there
    uint64_t dirty = 0;               // which lines were written since they came
  };

  void touchLine(Page &page, uint64_t line, bool read) {
    uint32_t &until = page.until[line & 63];
    uint64_t bit = uint64_t(1) << (line & 63);
    if (until <= came) {
      writtenBack += (page.dirty & bit) != 0;
      page.dirty &= ~bit;
      fetched += read, ++came;
      uint64_t hash = (line ^ came << 24) * 0x9e3779b97f4a7c15;
      double chance = double((hash >> 11) + 1) * 0x1p-53;
      until = uint32_t(std::min(4e9, double(std::max(came, capacity)) + 1 - std::log(chance) * double(capacity)));
    }
    if (!read)
      page.dirty |= bit;
  }

  unsigned shift;
  uint64_t capacity;
  uint64_t came = 0, fetched = 0, writtenBack = 0; // lines
  uint64_t bytesRead = 0, bytesWritten = 0;
  std::unordered_map<uint64_t, Page> pages; // of 64 lines
  uint64_t pageNumber = UINT64_MAX;
  Page *page = nullptr;
};

/// A transfer of one engine, and which part of the engine's bytes was moved before it.
struct Transfer {
  double at; // 0 to 1
  size_t order;
  const Event *event;
  const std::vector<ByteRuns> *runs; // of its core
};

/// The transfers of all engines, merged by the part of its bytes that each has moved: the cores of a launch do the same
/// work side by side.
std::vector<Transfer> mergeTransfers(std::span<const CoreLog> cores, std::span<const std::vector<ByteRuns>> runs) {
  std::vector<Transfer> transfers;
  for (size_t c = 0; c < cores.size(); ++c)
    for (const EngineLog &engine : cores[c].engines) {
      uint64_t total = 0, moved = 0;
      for (const Event &event : engine.events)
        total += event.path != GlobalPath::Local ? event.bytes : 0;
      for (const Event &event : engine.events)
        if (event.kind == Event::Work && event.path != GlobalPath::Local) {
          transfers.push_back(
              {double(moved) / double(std::max<uint64_t>(total, 1)), transfers.size(), &event, &runs[c]});
          moved += event.bytes;
        }
    }
  std::sort(transfers.begin(), transfers.end(),
            [](const Transfer &a, const Transfer &b) { return std::tie(a.at, a.order) < std::tie(b.at, b.order); });
  return transfers;
}

} // namespace

HbmTraffic hbmTraffic(const ChipInfo &chip, std::span<const CoreLog> cores,
                      std::span<const std::vector<ByteRuns>> runs) {
  Cache cache(chip);
  for (const Transfer &transfer : mergeTransfers(cores, runs)) {
    bool reads = transfer.event->path == GlobalPath::ToUB || transfer.event->path == GlobalPath::ToL1;
    for (uint32_t r = transfer.event->firstRun; r < transfer.event->endRun; ++r) {
      const ByteRuns &part = (*transfer.runs)[r];
      for (uint64_t i = 0; i < part.count; ++i)
        cache.touch(part.begin + i * uint64_t(part.pitch), part.length, reads);
    }
  }
  return cache.traffic();
}

} // namespace pto_mlir::cost
