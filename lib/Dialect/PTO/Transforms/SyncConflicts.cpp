//===- SyncConflicts.cpp - which ops of a kernel touch the same bytes --------------===//

#include "SyncConflicts.h"

#include <map>

using namespace mlir;
using namespace pto_mlir::pto;

namespace {
/// The identity of an access: its address for planned tiles, so that tiles at the same bytes are one; else its root.
struct AccessKey {
  explicit AccessKey(const Access &access) {
    bool byAddress = !access.global && !access.anywhere && access.placed && !access.turns;
    int64_t address = byAddress ? access.address : 0;
    key = {access.write,
           access.global,
           access.anywhere,
           access.global ? 0 : static_cast<unsigned>(access.space),
           byAddress || access.anywhere ? nullptr : access.root.getAsOpaquePointer(),
           access.anywhere || access.global ? 0 : address + access.begin,
           access.anywhere || access.global ? 0 : address + access.end};
  }
  bool operator<(const AccessKey &other) const { return key < other.key; }

  std::tuple<bool, bool, bool, unsigned, const void *, int64_t, int64_t> key;
};
} // namespace

SyncConflicts::SyncConflicts(std::vector<EngineOp> &ops) : ops(ops) {
  std::map<AccessKey, size_t> numbers;
  for (EngineOp &op : ops) {
    op.firstItem = items;
    llvm::SmallVector<size_t, 4> &mine = accessesOf.emplace_back();
    for (const Access &access : op.accesses) {
      if (access.turns && !llvm::is_contained(op.turns, access.turns))
        op.turns.push_back(access.turns);
      auto [number, isNew] = numbers.insert({AccessKey(access), accesses.size()});
      if (isNew)
        accesses.push_back(access);
      if (!llvm::is_contained(mine, number->second))
        mine.push_back(number->second);
    }
    items += op.numItems();
  }

  size_t count = accesses.size();
  BitRows opsOf(count, ops.size()), itemsOf(2 * count, items);
  for (size_t i = 0; i < ops.size(); ++i)
    for (size_t access : accessesOf[i]) {
      opsOf.set(access, i);
      for (size_t item = ops[i].firstItem; item < ops[i].firstItem + ops[i].numItems(); ++item)
        itemsOf.set(2 * access + getParity(i, item, access), item);
    }

  alwaysOps = turnOps = BitRows(count, ops.size());
  itemRows = BitRows(2 * count, items);
  for (size_t a = 0; a < count; ++a)
    for (size_t b = 0; b < count; ++b) {
      Overlap overlap = conflict(accesses[a], accesses[b]);
      if (overlap == Overlap::none)
        continue;
      (overlap == Overlap::always ? alwaysOps : turnOps).add(a, opsOf.row(b));
      for (size_t p : {0, 1})
        for (size_t q : {0, 1})
          if (p == q || overlap == Overlap::always)
            itemRows.add(2 * a + p, itemsOf.row(2 * b + q));
    }
}

size_t SyncConflicts::getParity(size_t i, size_t item, size_t access) const {
  scf::ForOp loop = accesses[access].turns;
  return loop ? (item - ops[i].firstItem) >> (llvm::find(ops[i].turns, loop) - ops[i].turns.begin()) & 1 : 0;
}

void SyncConflicts::findOps(size_t i, std::vector<uint64_t> &always, std::vector<uint64_t> &byTurn) const {
  always.assign(alwaysOps.wordsPerRow(), 0);
  byTurn.assign(turnOps.wordsPerRow(), 0);
  for (size_t access : accessesOf[i])
    for (size_t w = 0; w < always.size(); ++w) {
      always[w] |= alwaysOps.row(access)[w];
      byTurn[w] |= turnOps.row(access)[w];
    }
}

bool SyncConflicts::anyOf(size_t i, size_t item, const uint64_t *others) const {
  for (size_t access : accessesOf[i]) {
    const uint64_t *row = itemRows.row(2 * access + getParity(i, item, access));
    for (size_t w = 0; w < itemRows.wordsPerRow(); ++w)
      if (row[w] & others[w])
        return true;
  }
  return false;
}
