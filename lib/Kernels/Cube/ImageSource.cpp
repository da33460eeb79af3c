//===- ImageSource.cpp - left tiles from an image by img2col --------------===//
//
// A block is some whole output rows (or a part of one row). Its slab of the
// image lies in L1 as [C1][rows * width][C0], rows * width rounded up to whole
// boxes of 16; all slabs have one size and lie
// inside the image (see slabFor), so only the position of the block's first
// output inside the slab is computed.
//
//===----------------------------------------------------------------------===//

#include "LeftSource.h"

using namespace mlir;

namespace pto_mlir::cube {

namespace {

class ImageSource : public LeftSource {
public:
  ImageSource(Emitter &e, const Contraction &c, const CubeTiling &t)
      : e(e), c(c), t(t), image(*c.problem.image),
        blocksH(ceilDiv(image.h.out, t.slabRows)),
        blocksW(ceilDiv(image.w.out, t.slabCols)),
        taps(image.h.kernel * image.w.kernel),
        onePanel(t.panelK >= c.problem.k) {}

  int64_t numBlocks() const override {
    return image.batch * blocksH * blocksW;
  }
  int64_t blockRows() const override { return t.slabRows * t.slabCols; }
  Ix rows() const override { return blockExtent; }
  Ix firstRow() const override { return first; }

  void enterBlock(Ix outerIndex, Ix block) override {
    outer = outerIndex;
    // Blocks count columns fastest, then rows, then images.
    Ix blockW = e.rem(block, blocksW);
    Ix rest = e.div(block, blocksW);
    bool single = image.batch == 1;
    Ix n = single ? e.constant(0) : e.div(rest, blocksH);
    Ix outH = e.mul(single ? rest : e.rem(rest, blocksH), t.slabRows);
    Ix outW = e.mul(blockW, t.slabCols);

    Ix rowExtent = e.extent(outH, t.slabRows, image.h.out);
    blockExtent = blocksW == 1
                      ? e.mul(rowExtent, image.w.out)
                      : e.extent(outW, t.slabCols, image.w.out);
    first = e.add(e.mul(e.add(e.mul(n, image.h.out), outH), image.w.out), outW);

    Ix startH = start(t.slabH, outH), startW = start(t.slabW, outW);
    pixelRow = e.add(e.mul(n, image.h.in), e.mul(startH, image.h.stride));
    pixelCol = e.mul(startW, image.w.stride);
    position = e.add(e.mul(e.sub(outH, startH), slabOutW()),
                     e.sub(outW, startW));
    if (onePanel)
      loadSlab(e.constant(0), e.constant(image.channels), image.channels);
  }

  void enterTile(Ix row, Ix) override { tilePosition = e.add(position, row); }

  void enterPanel(Ix k, Ix extent) override {
    if (onePanel)
      return;
    // K counts whole channel blocks: the panel's channels follow from it. The
    // last block may be partly padding.
    int64_t most = t.panelK / taps;
    Ix channel = e.div(k, taps);
    loadSlab(channel, e.extent(channel, most, image.channels), most);
  }

  void extract(Value left, Ix k) override {
    auto list = [&](std::initializer_list<int64_t> values) {
      return e.b.getI64ArrayAttr(values);
    };
    e.b.create<pto::TImg2ColOp>(
        e.loc, slab, e.value(tilePosition), e.value(k), left,
        list({image.h.kernel, image.w.kernel}),
        list({image.h.stride, image.w.stride}),
        list({image.h.dilation, image.w.dilation}),
        list({image.h.padBegin, image.w.padBegin, image.h.padEnd,
              image.w.padEnd}),
        list({t.slabH.extent, t.slabW.extent}),
        e.b.getI64IntegerAttr(slabChannels));
  }

private:
  /// Where the slab of the block at output `out` begins, in strides.
  Ix start(const SlabAxis &axis, Ix out) {
    if (axis.lastStart == 0)
      return e.constant(0);
    return e.min(e.max(e.sub(out, e.constant(axis.lead)), e.constant(0)),
                 e.constant(axis.lastStart));
  }

  /// Outputs per row that img2col sees in the slab.
  int64_t slabOutW() const {
    return (t.slabW.extent + image.w.padBegin + image.w.padEnd -
            image.w.dilation * (image.w.kernel - 1) - 1) /
               image.w.stride +
           1;
  }

  /// Loads `extent` channels (at most `most`) from `channel` on.
  void loadSlab(Ix channel, Ix extent, int64_t most) {
    slabChannels = most;
    int64_t pixels = t.slabH.extent * t.slabW.extent;
    slab = e.tile(
        pto::makeMatTile(e.context(), roundUp(pixels, 16),
                         roundUp(most, blockChannels(c.problem.inBytes)),
                         c.left.element),
        e.constant(pixels), extent);
    Ix col = e.add(e.mul(outer, c.left.outerCols), channel);
    if (t.slabW.extent == image.w.in) {
      e.load(e.part(c.left, e.mul(pixelRow, image.w.in), col,
                    e.constant(pixels), extent),
             slab);
      return;
    }
    e.load(e.pixels(c.left, image.w.in, pixelRow, pixelCol, col,
                    t.slabH.extent, t.slabW.extent, extent),
           slab);
  }

  Emitter &e;
  const Contraction &c;
  const CubeTiling &t;
  const ConvImage &image;
  int64_t blocksH, blocksW, taps;
  bool onePanel;
  int64_t slabChannels = 0;
  Ix outer, first, blockExtent, pixelRow, pixelCol, position, tilePosition;
  Value slab;
};

} // namespace

std::unique_ptr<LeftSource> makeImageSource(Emitter &emitter,
                                            const Contraction &contraction,
                                            const CubeTiling &tiling) {
  return std::make_unique<ImageSource>(emitter, contraction, tiling);
}

} // namespace pto_mlir::cube
