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

/// Whether one record can still represent all bytes of the cell after this access.
bool AccessShadow::staysWhole(uint64_t byte, const Cell &cell, uint32_t mask, const Event &event, const Known &known,
                              bool write, bool add) {
  uint32_t others = 0;
  if (cell.rare) {
    const Rarity &rarity = rarities[byte];
    others = rarity.otherReads | rarity.otherAdds | (rarity.more.empty() ? 0 : cell.readMask | cell.writeMask);
  }
  if (add) // an addition does not order earlier accesses
    return (others & ~mask) == 0 && (cell.readMask == 0 || cell.readMask == mask) &&
           (cell.writeMask == 0 || cell.writeMask == mask);
  bool mine = cell.owner == known.first;
  uint32_t me = event.engine - known.first;
  if (write) {
    if ((cell.readMask | others) & ~mask)
      return false;
    return !(cell.writeMask & ~mask) || (mine && cell.writer == me && cell.writeTime == event.time && !cell.added);
  }
  if (!mine && (cell.writeMask & ~mask)) // other bytes were written by another group
    return false;
  if (cell.readMask == 0 || cell.readMask == mask)
    return (others & ~mask) == 0;
  // All readers so far are this engine: its newest read represents the older ones if it covers their bytes or is the
  // same event.
  bool onlyMe = mine && others == 0;
  uint32_t last = 0;
  for (unsigned i = 0; i < 2; ++i)
    if (cell.readTime[i]) {
      onlyMe &= cell.reader[i] == me;
      last = cell.readTime[i];
    }
  return onlyMe && (!(cell.readMask & ~mask) || last == event.time);
}

void AccessShadow::splitCell(uint64_t index, Cell &cell) {
  auto &bytes = bytesOf[index];
  Rarity rarity = cell.rare ? std::move(rarities[index * cellBytes]) : Rarity();
  for (unsigned b = 0; b < 32; ++b) {
    Cell &one = bytes[b] = cell;
    bool written = cell.writeMask >> b & 1, read = cell.readMask >> b & 1;
    if (!written)
      one.writeTime = 0, one.writer = 0, one.added = false;
    if (!read)
      one.readTime[0] = one.readTime[1] = 0;
    one.writeMask = written ? allBytes : 0;
    one.readMask = read ? allBytes : 0;
    if (!cell.rare)
      continue;
    Rarity mine = rarity;
    std::erase_if(mine.more, [&](const Past &p) { return p.add ? !written : !read; });
    mine.otherReads = rarity.otherReads >> b & 1 ? allBytes : 0;
    mine.otherAdds = rarity.otherAdds >> b & 1 ? allBytes : 0;
    one.rare = !mine.more.empty() || mine.otherReads || mine.otherAdds;
    if (one.rare)
      rarities[index * cellBytes + b] = std::move(mine);
    else
      rarities.erase(index * cellBytes + b);
  }
  cell = {};
  cell.split = true;
}

void AccessShadow::compare(uint64_t byte, const Cell &cell, uint32_t mask, const Event &event, const Known &known,
                           bool write, bool add, Conflict &conflict) {
  uint32_t written = cell.writeMask & mask, seen = cell.readMask & mask, me = event.engine - known.first;
  auto report = [&](uint32_t bytes, Event other, bool otherWrites) {
    if (!conflict.found)
      conflict = {true, byte + uint64_t(std::countr_zero(bytes)), other, otherWrites};
  };
  bool mine = cell.owner == known.first;
  auto otherCore = [&](uint32_t engine) { return !mine || engine / maxEngines != me / maxEngines; };
  if (written && !(add && cell.added && otherCore(cell.writer)) && !(mine && known.has(cell.writer, cell.writeTime)))
    report(written, {cell.owner + cell.writer, cell.writeTime}, true);
  if (write && seen)
    for (unsigned i = 0; i < 2; ++i)
      if (cell.readTime[i] && !(mine && known.has(cell.reader[i], cell.readTime[i])))
        report(seen, {cell.owner + cell.reader[i], cell.readTime[i]}, false);
  if (!cell.rare)
    return;
  const Rarity &rarity = rarities[byte];
  for (const Past &p : rarity.more)
    if (uint32_t bytes = p.add ? written : seen;
        bytes && (p.add ? !(add && otherCore(p.engine)) : write) && !(mine && known.has(p.engine, p.time)))
      report(bytes, {cell.owner + p.engine, p.time}, p.add);
  if (write && (rarity.otherReads & mask))
    report(rarity.otherReads & mask, {rarity.otherEngine, 0}, false);
  if (!add && (rarity.otherAdds & mask))
    report(rarity.otherAdds & mask, {rarity.otherEngine, 0}, true);
}

/// A cell holds two readers; one that happened before the new reader is replaced.
void AccessShadow::addReader(uint64_t byte, Cell &cell, uint16_t engine, uint32_t time, const Known &known) {
  for (unsigned i = 0; i < 2; ++i)
    if (cell.readTime[i] && cell.reader[i] == engine) {
      cell.readTime[i] = std::max(cell.readTime[i], time);
      return;
    }
  for (unsigned i = 0; i < 2; ++i)
    if (!cell.readTime[i] || known.has(cell.reader[i], cell.readTime[i])) {
      cell.reader[i] = engine;
      cell.readTime[i] = time;
      return;
    }
  cell.rare = true;
  std::vector<Past> &more = rarities[byte].more;
  std::erase_if(more, [&](const Past &p) { return !p.add && known.has(p.engine, p.time); });
  more.push_back({engine, false, time});
}

void AccessShadow::dropRarity(uint64_t byte, Cell &cell) {
  if (cell.rare)
    rarities.erase(byte);
  cell.rare = false;
}

void AccessShadow::touch(uint64_t byte, Cell &cell, uint32_t mask, const Event &event, const Known &known, bool write,
                         bool add, Conflict &conflict) {
  uint64_t index = byte / cellBytes;
  if (!cell.split && !staysWhole(byte, cell, mask, event, known, write, add))
    splitCell(index, cell);
  if (cell.split) {
    auto &bytes = bytesOf[index];
    for (unsigned b = 0; b < 32; ++b)
      if (mask >> b & 1)
        touch(byte + b, bytes[b], allBytes, event, known, write, add, conflict);
    if (write && !add && mask == allBytes) { // one access covers all bytes: merge the cell
      cell = bytes[0];
      bytesOf.erase(index);
    }
    return;
  }
  compare(byte, cell, mask, event, known, write, add, conflict);
  auto me = uint16_t(event.engine - known.first);
  if (cell.owner != known.first) {
    // The cell belongs to an earlier group; its reads and additions are kept, since nothing orders them with this
    // group.
    if (cell.readMask || cell.added) {
      Rarity &rarity = rarities[byte];
      cell.rare = true;
      rarity.otherEngine = cell.owner + (cell.added ? cell.writer : cell.reader[0]);
      rarity.otherReads |= cell.readMask;
      rarity.otherAdds |= cell.added ? cell.writeMask : 0;
      rarity.more.clear();
    }
    bool rare = cell.rare;
    cell = {};
    cell.rare = rare;
    cell.owner = known.first;
  }
  if (!write) {
    addReader(byte, cell, me, event.time, known);
    cell.readMask |= mask;
    return;
  }
  bool same = cell.writer == me && cell.writeTime == event.time && cell.added == add;
  if (!add) {
    cell.readTime[0] = cell.readTime[1] = 0;
    cell.readMask = 0;
    dropRarity(byte, cell);
  } else if (cell.writeMask && !cell.added) {
    // A later addition is unordered with this one but must be ordered with the write before it, so that write is kept
    // as a read. Existing reads already imply it.
    if (!cell.readMask) {
      cell.reader[0] = cell.writer;
      cell.readTime[0] = cell.writeTime;
      cell.readMask = cell.writeMask;
    }
  } else if (cell.writeMask && cell.writer / maxEngines != me / maxEngines) {
    cell.rare = true; // an addition of another core, not ordered with this one
    std::vector<Past> &more = rarities[byte].more;
    auto last = std::find_if(more.begin(), more.end(), [&](const Past &p) { return p.add && p.engine == cell.writer; });
    if (last == more.end())
      more.push_back({cell.writer, true, cell.writeTime});
    else
      last->time = std::max(last->time, cell.writeTime);
  }
  cell.writeMask = same ? cell.writeMask | mask : mask;
  cell.writeTime = event.time;
  cell.writer = me;
  cell.added = add;
}

void AccessShadow::read(uint64_t begin, uint64_t length, const Event &event, const Known &known, Conflict &conflict) {
  auto me = uint16_t(event.engine - known.first);
  forCells(begin, length, [&](uint64_t i, uint32_t mask) {
    Cell &c = cells[i];
    // Fast path: the same group, or none, accessed all of the cell.
    if (mask == allBytes && c.isPlain() && (c.owner == known.first || c.isFresh()) && c.writeMask + 1 <= 1 &&
        c.readMask + 1 <= 1 && known.has(c.writer, c.writeTime)) {
      c.owner = known.first;
      if (c.reader[0] == me || !c.readTime[0]) {
        c.reader[0] = me;
        c.readTime[0] = event.time;
      } else {
        addReader(i * cellBytes, c, me, event.time, known);
      }
      c.readMask = allBytes;
      return;
    }
    touch(i * cellBytes, c, mask, event, known, false, false, conflict);
  });
}

void AccessShadow::write(uint64_t begin, uint64_t length, const Event &event, const Known &known, bool add,
                         Conflict &conflict) {
  auto me = uint16_t(event.engine - known.first);
  forCells(begin, length, [&](uint64_t i, uint32_t mask) {
    Cell &c = cells[i];
    if (mask == allBytes && c.isPlain() && (c.owner == known.first || c.isFresh()) && c.writeMask + 1 <= 1 &&
        c.readMask + 1 <= 1 && !add && known.has(c.writer, c.writeTime) && known.has(c.reader[0], c.readTime[0]) &&
        known.has(c.reader[1], c.readTime[1])) {
      c.owner = known.first;
      c.readTime[0] = c.readTime[1] = 0;
      c.readMask = 0;
      c.writeTime = event.time;
      c.writer = me;
      c.writeMask = allBytes;
      c.added = false;
      return;
    }
    touch(i * cellBytes, c, mask, event, known, true, add, conflict);
  });
}

void AccessShadow::clear() {
  if (dirtyBegin < dirtyEnd)
    std::fill(cells.begin() + ptrdiff_t(dirtyBegin), cells.begin() + ptrdiff_t(dirtyEnd), Cell());
  dirtyBegin = UINT64_MAX;
  dirtyEnd = 0;
  bytesOf.clear();
  rarities.clear();
}

void DefinedShadow::set(uint64_t begin, uint64_t length, bool defined) {
  if (length == 0)
    return;
  uint64_t end = begin + length, first = begin / cellBytes, last = (end - 1) / cellBytes;
  dirtyEnd = std::max(dirtyEnd, last + 1);
  if (!loads.empty())
    std::fill(loads.begin() + ptrdiff_t(begin), loads.begin() + ptrdiff_t(end), 0);
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

void DefinedShadow::setUnwritten(uint64_t begin, uint64_t length, uint32_t load) {
  set(begin, length, false);
  if (load == 0)
    return;
  loads.resize(masks.size() * cellBytes);
  std::fill(loads.begin() + ptrdiff_t(begin), loads.begin() + ptrdiff_t(begin + length), load);
}

uint64_t DefinedShadow::firstLoaded(uint64_t begin, uint64_t length) const {
  if (loads.empty())
    return begin + length;
  auto from = loads.begin() + ptrdiff_t(begin), to = from + ptrdiff_t(length);
  return uint64_t(std::find_if(from, to, [](uint32_t load) { return load != 0; }) - loads.begin());
}

void DefinedShadow::clear() {
  std::fill(masks.begin(), masks.begin() + ptrdiff_t(dirtyEnd), 0);
  loads.clear();
  dirtyEnd = 0;
}

} // namespace pto_mlir::cmodel
