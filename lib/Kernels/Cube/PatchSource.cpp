//===- PatchSource.cpp - left tiles from windows that do not overlap -------===//
//
// The kernel is no larger than the stride and nothing is padded, so row r of
// the left operand is a few contiguous runs of the image, one for each row of
// the window, and the filter needs no packing. A strided load brings one run
// of many windows into L1.
//
//===----------------------------------------------------------------------===//

#include "LeftSource.h"

using namespace mlir;

namespace pto_mlir::cube {

namespace {

class PatchSource : public LeftSource {
public:
  PatchSource(Emitter &e, const Contraction &c, const CubeTiling &t)
      : e(e), c(c), t(t), patches(*c.problem.patches), most(c.out.rows / patches.width), rowCount(e.constant(most)),
        wholeRows(t.blockM % patches.width == 0), parts(ceilDiv(patches.width, t.blockM)) {
    if (int64_t perSize = c.imageRowsPerSize ? c.outputRowsPerSize : c.imagesPerSize * (c.problem.m / patches.width))
      rowCount = e.mul(e.kernelSize(0), perSize);
  }

  Ix numBlocks() const override {
    return wholeRows ? e.ceilDiv(rowCount, t.blockM / patches.width) : e.mul(rowCount, parts);
  }
  int64_t blockRows() const override { return t.blockM; }
  Ix rows() const override { return blockExtent; }
  Ix firstRow() const override { return first; }

  void enterBlock(Ix, Ix block) override {
    if (wholeRows) {
      int64_t each = t.blockM / patches.width;
      row = e.mul(block, each);
      column = e.constant(0);
      height = e.extent(row, std::min(each, most), rowCount);
      width = e.constant(patches.width);
      blockExtent = e.mul(height, patches.width);
    } else {
      row = e.div(block, parts);
      column = e.mul(e.rem(block, parts), t.blockM);
      height = e.constant(1);
      width = blockExtent = e.extent(column, t.blockM, patches.width);
    }
    first = e.add(e.mul(row, patches.width), column);
  }

  void enterTile(Ix, Ix) override {}

  void enterPanel(Ix k, Ix extent) override {
    int64_t cols = roundUp(std::min(t.panelK, c.problem.k), blockChannels(c.problem.inBytes));
    panel = e.tile(pto::makeMatTile(e.context(), t.baseM, cols, c.left.element), blockExtent, extent);
    bool single = patches.strips == 1;
    Ix strip = single ? e.constant(0) : e.div(k, patches.strip);
    Ix start = single ? k : e.constant(0);
    e.load(e.patches(c.left, most, patches, row, strip, column, start, height, width, extent), panel);
  }

  void extract(Value left, Ix k) override {
    e.b.create<pto::TExtractOp>(e.loc, panel, e.value(e.constant(0)), e.value(k), left);
  }

private:
  Emitter &e;
  const Contraction &c;
  const CubeTiling &t;
  const ConvPatches &patches;
  int64_t most; ///< rows of windows in all images
  Ix rowCount;
  bool wholeRows;
  int64_t parts;
  Ix row, column, height, width, blockExtent, first;
  Value panel;
};

} // namespace

std::unique_ptr<LeftSource> makePatchSource(Emitter &emitter, const Contraction &contraction,
                                            const CubeTiling &tiling) {
  return std::make_unique<PatchSource>(emitter, contraction, tiling);
}

} // namespace pto_mlir::cube
