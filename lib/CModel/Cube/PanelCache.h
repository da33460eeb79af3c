// Matmul operands in packed form, cached until the local memory they were read from is overwritten: a right operand
// used with many left ones is packed once.
#ifndef PTO_MLIR_CMODEL_PANELCACHE_H
#define PTO_MLIR_CMODEL_PANELCACHE_H

#include "Tiles/LocalTile.h"

#include <cstring>
#include <vector>

namespace pto_mlir::cmodel {

/// A small cache with round-robin replacement, keyed by tile.
class PanelCache {
public:
  struct Entry {
    LocalTile tile;
    size_t extent = 0;           // bytes of the tile
    std::vector<uint32_t> words; // f32 or i32
    bool known = false;          // the tile has not been written since it was looked up
    bool live = false;           // so have words, which are up to date
  };

  /// The entry for `tile`; its `live` tells whether its words are up to date. Otherwise the caller fills them and sets
  /// `live`.
  Entry &find(const LocalTile &tile) {
    for (Entry &e : entries)
      if (e.known && same(e.tile, tile))
        return e;
    Entry &e = entries[turn++ % numEntries];
    e.tile = tile;
    e.extent = tile.extent();
    e.known = true;
    e.live = false;
    return e;
  }

  /// Whether `tile` is looked up for the first time since it was written; `find` is as good as done then.
  bool isNew(const LocalTile &tile) {
    for (const Entry &e : entries)
      if (e.known && same(e.tile, tile))
        return false;
    find(tile);
    return true;
  }

  /// Must be called for every write into the local memory.
  void invalidate(const LocalTile &written) {
    const uint8_t *end = written.data + written.extent();
    for (Entry &e : entries)
      if (e.known && e.tile.data < end && written.data < e.tile.data + e.extent)
        e.known = e.live = false;
  }

  void clear() {
    for (Entry &e : entries)
      e.known = e.live = false;
  }

private:
  static constexpr unsigned numEntries = 4;

  static bool same(const LocalTile &a, const LocalTile &b) {
    return a.data == b.data && a.type == b.type && a.layout == b.layout && a.rows == b.rows && a.cols == b.cols &&
           a.validRows == b.validRows && a.validCols == b.validCols;
  }

  Entry entries[numEntries];
  unsigned turn = 0;
};

} // namespace pto_mlir::cmodel

#endif
