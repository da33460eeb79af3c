//===- PlainSource.cpp - left tiles from a row-major matrix ---------------===//

#include "LeftSource.h"

using namespace mlir;

namespace pto_mlir::cube {

namespace {

class PlainSource : public LeftSource {
public:
  PlainSource(Emitter &e, const Contraction &c, const CubeTiling &t)
      : e(e), c(c), t(t) {}

  int64_t numBlocks() const override {
    return ceilDiv(c.problem.m, t.blockM);
  }
  int64_t blockRows() const override {
    return std::min(t.blockM, c.problem.m);
  }
  Ix rows() const override { return blockExtent; }
  Ix firstRow() const override { return first; }

  void enterBlock(Ix outerIndex, Ix block) override {
    outer = outerIndex;
    first = e.mul(block, t.blockM);
    blockExtent = e.extent(first, blockRows(), c.problem.m);
    if (t.rowsOuter)
      load(e.constant(0), e.constant(c.problem.k), c.problem.k);
  }

  void enterTile(Ix, Ix) override {}

  void enterPanel(Ix k, Ix extent) override {
    base = t.rowsOuter ? k : e.constant(0);
    if (!t.rowsOuter)
      load(k, extent, std::min(t.panelK, c.problem.k));
  }

  void extract(Value left, Ix k) override {
    e.b.create<pto::TExtractOp>(e.loc, panel, e.value(e.constant(0)),
                                e.value(e.add(base, k)), left);
  }

private:
  /// Columns [k, k + extent) of this block, at most `most`, into L1.
  void load(Ix k, Ix extent, int64_t most) {
    int64_t cols = roundUp(most, blockChannels(c.problem.inBytes));
    panel = e.tile(
        pto::makeMatTile(e.context(), t.baseM, cols, c.left.element),
        blockExtent, extent);
    Ix row = e.add(e.rowOf(c.left, outer), first);
    Ix col = e.add(e.colOf(c.left, outer), k);
    e.load(e.part(c.left, row, col, blockExtent, extent), panel);
  }

  Emitter &e;
  const Contraction &c;
  const CubeTiling &t;
  Ix outer, first, blockExtent, base;
  Value panel;
};

} // namespace

std::unique_ptr<LeftSource> makePlainSource(Emitter &emitter,
                                            const Contraction &contraction,
                                            const CubeTiling &tiling) {
  return std::make_unique<PlainSource>(emitter, contraction, tiling);
}

} // namespace pto_mlir::cube
