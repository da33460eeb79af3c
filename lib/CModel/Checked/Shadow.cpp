#include "Checked/Shadow.h"

#include <algorithm>
#include <bit>

namespace pto_mlir::cmodel {
namespace {

constexpr uint64_t cellBytes = 32;
constexpr uint32_t allBytes = 0xffffffff;

/// Bits [from, to) of a cell.
uint32_t bits(uint64_t from, uint64_t to) {
  uint32_t below = to >= 32 ? allBytes : (1u << to) - 1;
  return below & ~((1u << from) - 1);
}

} // namespace

/// f(cell index, mask of bytes) for the cells under [begin, begin + length).
template <class F> void AccessShadow::forCells(uint64_t begin, uint64_t length, F &&f) {
  if (length == 0)
    return;
  uint64_t end = begin + length, first = begin / cellBytes, last = (end - 1) / cellBytes;
  dirtyBegin = std::min(dirtyBegin, first);
  dirtyEnd = std::max(dirtyEnd, last + 1);
  for (uint64_t i = first; i <= last; ++i)
    f(i, bits(i == first ? begin % cellBytes : 0, i == last ? end - last * cellBytes : cellBytes));
}

/// Can the cell still speak for all its bytes after this access?
bool AccessShadow::staysWhole(const Cell &cell, uint32_t mask, const Event &event, bool write, bool add) {
  uint32_t others = cell.otherReads | cell.otherAdds;
  if (add) // keeps what was there
    return (others & ~mask) == 0 && (cell.readMask == 0 || cell.readMask == mask) && (cell.writeMask == 0 || cell.writeMask == mask);
  if (write) {
    if ((cell.readMask | others) & ~mask)
      return false;
    return !(cell.writeMask & ~mask) ||
           (cell.core == event.core && cell.writer == event.engine && cell.writeTime == event.time && !cell.added);
  }
  if (cell.core != event.core && (cell.writeMask & ~mask)) // other bytes have another core's writer
    return false;
  if (cell.readMask == 0 || cell.readMask == mask)
    return (others & ~mask) == 0 || others == 0;
  // All readers so far are this engine: its newest read may stand for the older ones where it covers them, or is the same event.
  bool onlyMe = cell.core == event.core && others == 0;
  for (unsigned e = 0; e < maxEngines; ++e)
    onlyMe &= e == event.engine || cell.reads[e] == 0;
  return onlyMe && (!(cell.readMask & ~mask) || cell.reads[event.engine] == event.time);
}

void AccessShadow::splitCell(uint64_t index, Cell &cell) {
  auto &bytes = bytesOf[index];
  for (unsigned b = 0; b < 32; ++b) {
    Cell &one = bytes[b] = cell;
    if (!(cell.writeMask >> b & 1))
      one.writeTime = 0, one.writer = 0, one.added = false;
    if (!(cell.readMask >> b & 1))
      one.reads = {};
    one.writeMask = cell.writeMask >> b & 1 ? allBytes : 0;
    one.readMask = cell.readMask >> b & 1 ? allBytes : 0;
    one.otherReads = cell.otherReads >> b & 1 ? allBytes : 0;
    one.otherAdds = cell.otherAdds >> b & 1 ? allBytes : 0;
  }
  cell = {};
  cell.split = true;
}

void AccessShadow::compare(uint64_t byte, const Cell &cell, uint32_t mask, const Event &event, const Clock &clock, bool write, bool add,
                           Conflict &conflict) {
  uint32_t written = cell.writeMask & mask, seen = cell.readMask & mask;
  auto report = [&](uint32_t bytes, Event other, bool otherWrites) {
    if (!conflict.found)
      conflict = {true, byte + uint64_t(std::countr_zero(bytes)), other, otherWrites};
  };
  bool sameCore = cell.core == event.core, bothAdd = !sameCore && add && cell.added;
  if (written && !bothAdd && (!sameCore || cell.writeTime > clock[cell.writer]))
    report(written, {cell.core, cell.writer, cell.writeTime}, true);
  if (write && seen)
    for (unsigned e = 0; e < maxEngines; ++e)
      if (cell.reads[e] && (!sameCore || cell.reads[e] > clock[e]))
        report(seen, {cell.core, uint8_t(e), cell.reads[e]}, false);
  if (write && (cell.otherReads & mask))
    report(cell.otherReads & mask, {cell.otherCore, 0, 0}, false);
  if (!add && (cell.otherAdds & mask))
    report(cell.otherAdds & mask, {cell.otherCore, 0, 0}, true);
}

void AccessShadow::touch(uint64_t byte, Cell &cell, uint32_t mask, const Event &event, const Clock &clock, bool write, bool add,
                         Conflict &conflict) {
  uint64_t index = byte / cellBytes;
  if (!cell.split && !staysWhole(cell, mask, event, write, add))
    splitCell(index, cell);
  if (cell.split) {
    auto &bytes = bytesOf[index];
    for (unsigned b = 0; b < 32; ++b)
      if (mask >> b & 1)
        touch(byte + b, bytes[b], allBytes, event, clock, write, add, conflict);
    if (write && !add && mask == allBytes) { // one access speaks for all bytes again
      cell = bytes[0];
      bytesOf.erase(index);
    }
    return;
  }
  compare(byte, cell, mask, event, clock, write, add, conflict);
  if (cell.core != event.core) {
    // Another core was here; what it did is kept where it still matters.
    if (cell.readMask || cell.added) {
      cell.otherCore = cell.core;
      cell.otherReads |= cell.readMask;
      cell.otherAdds |= cell.added ? cell.writeMask : 0;
    }
    cell.writeMask = cell.writeTime = cell.readMask = 0;
    cell.added = false;
    cell.reads = {};
    cell.core = event.core;
  }
  if (write) {
    bool same = cell.writer == event.engine && cell.writeTime == event.time && cell.added == add;
    if (!add) {
      cell.reads = {};
      cell.readMask = 0;
    } else if (!cell.added && cell.writeMask) {
      // Who adds after this addition need not come after it, but has to come after the write before it: that stays, as if it were a read.
      cell.reads[cell.writer] = std::max(cell.reads[cell.writer], cell.writeTime);
      cell.readMask |= cell.writeMask;
    }
    cell.writeMask = same ? cell.writeMask | mask : mask;
    cell.writeTime = event.time;
    cell.writer = event.engine;
    cell.added = add;
  } else {
    cell.reads[event.engine] = event.time;
    cell.readMask |= mask;
  }
}

void AccessShadow::read(uint64_t begin, uint64_t length, const Event &event, const Clock &clock, Conflict &conflict) {
  forCells(begin, length, [&](uint64_t i, uint32_t mask) {
    Cell &c = cells[i];
    // The usual case: the same core wrote all of the cell, or nothing.
    if (mask == allBytes && !c.split && c.core == event.core && c.writeMask + 1 <= 1 && c.readMask + 1 <= 1 && !(c.otherReads | c.otherAdds) &&
        c.writeTime <= clock[c.writer]) {
      c.reads[event.engine] = event.time;
      c.readMask = allBytes;
      return;
    }
    touch(i * cellBytes, c, mask, event, clock, false, false, conflict);
  });
}

void AccessShadow::write(uint64_t begin, uint64_t length, const Event &event, const Clock &clock, bool add, Conflict &conflict) {
  forCells(begin, length, [&](uint64_t i, uint32_t mask) {
    Cell &c = cells[i];
    if (mask == allBytes && !c.split && c.core == event.core && c.writeMask + 1 <= 1 && c.readMask + 1 <= 1 && !(c.otherReads | c.otherAdds) &&
        !add && c.writeTime <= clock[c.writer]) {
      uint32_t late = 0;
      for (unsigned e = 0; e < maxEngines; ++e)
        late |= uint32_t(c.reads[e] > clock[e]);
      if (!late) {
        c.reads = {};
        c.readMask = 0;
        c.writeTime = event.time;
        c.writer = event.engine;
        c.writeMask = allBytes;
        c.added = false;
        return;
      }
    }
    touch(i * cellBytes, c, mask, event, clock, true, add, conflict);
  });
}

void AccessShadow::clear() {
  if (dirtyBegin < dirtyEnd)
    std::fill(cells.begin() + ptrdiff_t(dirtyBegin), cells.begin() + ptrdiff_t(dirtyEnd), Cell());
  dirtyBegin = UINT64_MAX;
  dirtyEnd = 0;
  bytesOf.clear();
}

void DefinedShadow::set(uint64_t begin, uint64_t length, bool defined) {
  if (length == 0)
    return;
  uint64_t end = begin + length, first = begin / cellBytes, last = (end - 1) / cellBytes;
  dirtyEnd = std::max(dirtyEnd, last + 1);
  auto one = [&](uint64_t i, uint32_t mask) { defined ? masks[i] |= mask : masks[i] &= ~mask; };
  if (first == last)
    return one(first, bits(begin % cellBytes, end - last * cellBytes));
  one(first, bits(begin % cellBytes, cellBytes));
  std::fill(masks.begin() + ptrdiff_t(first + 1), masks.begin() + ptrdiff_t(last), defined ? allBytes : 0);
  one(last, bits(0, end - last * cellBytes));
}

uint64_t DefinedShadow::firstUndefined(uint64_t begin, uint64_t length) const {
  uint64_t end = begin + length;
  for (uint64_t i = begin / cellBytes; i * cellBytes < end; ++i) {
    uint32_t wanted = bits(begin > i * cellBytes ? begin - i * cellBytes : 0, std::min(end - i * cellBytes, cellBytes));
    if (uint32_t missing = wanted & ~masks[i])
      return i * cellBytes + uint64_t(std::countr_zero(missing));
  }
  return end;
}

void DefinedShadow::clear() {
  std::fill(masks.begin(), masks.begin() + ptrdiff_t(dirtyEnd), 0);
  dirtyEnd = 0;
}

} // namespace pto_mlir::cmodel
