// Elementwise instructions: one function mapped over the valid region of dst.
#ifndef PTO_MLIR_CMODEL_MAP_H
#define PTO_MLIR_CMODEL_MAP_H

#include "Arithmetic/Arithmetic.h"
#include "Arithmetic/Element.h"
#include "Arithmetic/Wide.h"
#include "Machine/Core.h"
#include "Tiles/MapLine.h"

namespace pto_mlir::cmodel {

/// An ND or DN tile as lines of contiguous elements: rows of ND, columns of DN.
struct Lines {
  uint32_t count, length;
  size_t pitch;
};
inline Lines linesOf(const LocalTile &t) {
  return t.is(isa::Layout::DN) ? Lines{t.validCols, t.validRows, t.rows} : Lines{t.validRows, t.validCols, t.cols};
}

/// Elements between consecutive rows of a tile with one value per row: a DN column, or column 0 of ND.
inline size_t rowStep(const LocalTile &t) { return t.is(isa::Layout::DN) ? 1 : t.cols; }

/// Whether dst and src are the same elements or do not overlap. A partial overlap makes the order of elements visible,
/// so such tiles cannot be processed line by line.
bool disjointOrSame(const LocalTile &dst, const LocalTile &src);

/// Calls line(dst, sources..., n) for contiguous runs of n elements, once if the tiles have no gaps. False if they
/// cannot be processed line by line: different layouts, or a source that partially overlaps dst.
template <class T, class F, class... Sources> bool mapLines(const LocalTile &dst, F &&line, const Sources &...sources) {
  if (!((sources.layout == dst.layout && disjointOrSame(dst, sources)) && ...) ||
      !(dst.is(isa::Layout::ND) || dst.is(isa::Layout::DN)))
    return false;
  Lines d = linesOf(dst);
  if (d.count == 0 || d.length == 0)
    return true;
  if (d.count == 1 || (d.pitch == d.length && ((linesOf(sources).pitch == d.pitch) && ...))) {
    line(dst.as<T>(), sources.template as<T>()..., size_t(d.count) * d.length);
    return true;
  }
  for (uint32_t i = 0; i < d.count; ++i)
    line(dst.as<T>() + i * d.pitch, sources.template as<T>() + i * linesOf(sources).pitch..., size_t(d.length));
  return true;
}

/// Checks that every source has at least dst's valid region; faults otherwise.
bool coverDst(Core &core, const LocalTile &dst, std::initializer_list<const LocalTile *> sources);
/// As coverDst, and checks that the sources have dst's type.
bool sameShape(Core &core, const LocalTile &dst, std::initializer_list<const LocalTile *> sources);
/// Faults with an illegal element type.
void illegalType(Core &core, isa::ElementType type);

/// dst = f(src) element by element, computed in the wide type W (Arithmetic/Wide.h).
template <class W, class F> void mapWide(const LocalTile &dst, const LocalTile &src, F f) {
  for (uint32_t r = 0; r < dst.validRows; ++r)
    for (uint32_t c = 0; c < dst.validCols; ++c)
      putWide<W>(dst, r, c, W(f(getWide<W>(src, r, c))));
}

/// As mapWide for a type T with a vectorised path; types and shapes are already checked.
template <class T, class F> void mapAs(const LocalTile &dst, const LocalTile &src, F f) {
  if (mapLines<T>(dst, [&](T *d, const T *a, size_t n) { mapLine(f, d, n, a); }, src))
    return;
  for (uint32_t r = 0; r < dst.validRows; ++r)
    for (uint32_t c = 0; c < dst.validCols; ++c)
      dst.at<T>(r, c) = store<T>(f(load(src.at<T>(r, c))));
}

/// dst = f(src) element by element, in the compute type of an element type of Legal; faults on other types and on
/// shapes that do not fit.
template <class Legal, class F> void mapUnary(const LocalTile &dst, const LocalTile &src, Core &core, F f) {
  if (!dst.data || !src.data || !sameShape(core, dst, {&src}))
    return;
  bool legal = Legal::visit(dst.type, [&]<class T>() { mapAs<T>(dst, src, f); }) ||
               visitWide<Legal>(dst.type, [&]<class W>() { mapWide<W>(dst, src, f); });
  if (!legal)
    illegalType(core, dst.type);
}

/// dst = f(a, b); as mapUnary.
template <class Legal, class F>
void mapBinary(const LocalTile &dst, const LocalTile &a, const LocalTile &b, Core &core, F f) {
  if (!dst.data || !a.data || !b.data || !sameShape(core, dst, {&a, &b}))
    return;
  bool legal = Legal::visit(dst.type, [&]<class T>() {
    if (mapLines<T>(dst, [&](T *d, const T *x, const T *y, size_t n) { mapLine(f, d, n, x, y); }, a, b))
      return;
    for (uint32_t r = 0; r < dst.validRows; ++r)
      for (uint32_t c = 0; c < dst.validCols; ++c)
        dst.at<T>(r, c) = store<T>(f(load(a.at<T>(r, c)), load(b.at<T>(r, c))));
  });
  legal = legal || visitWide<Legal>(dst.type, [&]<class W>() {
            for (uint32_t r = 0; r < dst.validRows; ++r)
              for (uint32_t c = 0; c < dst.validCols; ++c)
                putWide<W>(dst, r, c, W(f(getWide<W>(a, r, c), getWide<W>(b, r, c))));
          });
  if (!legal)
    illegalType(core, dst.type);
}

// --- overloads for instructions with operands named dst, src, src0, src1, scalar ---

template <class Legal = Standard, class Insn, class F> void mapUnary(const Insn &insn, Core &core, F f) {
  mapUnary<Legal>(core.tile(insn.dst, isa::Memory::UB), core.tile(insn.src, isa::Memory::UB), core, f);
}

template <class Legal = Standard, class Insn, class F> void mapBinary(const Insn &insn, Core &core, F f) {
  mapBinary<Legal>(core.tile(insn.dst, isa::Memory::UB), core.tile(insn.src0, isa::Memory::UB),
                   core.tile(insn.src1, isa::Memory::UB), core, f);
}

/// dst = f(src, scalar); the scalar is rounded to the tile's type first.
template <class Legal = Standard, class Insn, class F> void mapScalar(const Insn &insn, Core &core, F f) {
  LocalTile dst = core.tile(insn.dst, isa::Memory::UB), src = core.tile(insn.src, isa::Memory::UB);
  if (!dst.data || !src.data || !sameShape(core, dst, {&src}))
    return;
  bool legal = Legal::visit(dst.type, [&]<class T>() {
    auto s = scalarValue<T>(insn.scalar.value);
    mapAs<T>(dst, src, [=](auto a) { return f(a, s); });
  });
  legal = legal || visitWide<Legal>(dst.type, [&]<class W>() {
            W s = scalarWide<W>(dst.type, insn.scalar.value);
            mapWide<W>(dst, src, [=](W a) { return f(a, s); });
          });
  if (!legal)
    illegalType(core, dst.type);
}

} // namespace pto_mlir::cmodel

#endif
