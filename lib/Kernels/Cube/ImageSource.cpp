//===- ImageSource.cpp - left tiles from an image by img2col --------------===//
//
// A block is a run of outputs of one image (or, where not even one row fits, a
// part of one row). Its slab of the image lies in L1 as [C1][rows * width][C0], rows * width rounded up to whole
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
      : e(e), c(c), t(t), image(*c.problem.image), wholeRows(t.slabCols == image.w.out),
        outputs(image.h.out * image.w.out), blocksW(ceilDiv(image.w.out, t.slabCols)),
        blocksPerImage(wholeRows ? ceilDiv(outputs, t.blockM) : image.h.out * blocksW),
        images(c.imagesPerSize ? e.mul(e.kernelSize(0), c.imagesPerSize) : e.constant(image.batch)),
        taps(image.h.kernel * image.w.kernel), onePanel(t.panelK >= c.problem.k) {}

  Ix numBlocks() const override { return e.mul(images, blocksPerImage); }
  int64_t blockRows() const override { return t.blockM; }
  Ix rows() const override { return blockExtent; }
  Ix firstRow() const override { return first; }

  void enterBlock(Ix outerIndex, Ix block) override {
    outer = outerIndex;
    bool single = isConstantIntValue(images, 1);
    Ix n = single ? e.constant(0) : e.div(block, blocksPerImage);
    Ix part = single ? block : e.rem(block, blocksPerImage);
    // The block's first output: its number in the image, row and column.
    Ix begin, outH, outW;
    if (wholeRows) {
      begin = e.mul(part, t.blockM);
      bool ofRows = t.blockM % image.w.out == 0;
      outH = ofRows ? e.mul(part, t.blockM / image.w.out) : e.div(begin, image.w.out);
      outW = ofRows ? e.constant(0) : e.rem(begin, image.w.out);
      blockExtent = e.extent(begin, t.blockM, outputs);
    } else {
      outH = e.div(part, blocksW);
      outW = e.mul(e.rem(part, blocksW), t.blockM);
      begin = e.add(e.mul(outH, image.w.out), outW);
      blockExtent = e.extent(outW, t.blockM, image.w.out);
    }
    first = e.add(e.mul(n, outputs), begin);

    Ix startH = start(t.slabH, outH);
    Ix startW = wholeRows ? e.constant(0) : start(t.slabW, outW);
    pixelRow = e.add(e.mul(n, image.h.in), e.mul(startH, image.h.stride));
    pixelCol = e.mul(startW, image.w.stride);
    position = e.add(e.mul(e.sub(outH, startH), slabOutW()), e.sub(outW, startW));
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
    auto list = [&](std::initializer_list<int64_t> values) { return e.b.getI64ArrayAttr(values); };
    e.b.create<pto::TImg2ColOp>(e.loc, slab, e.value(tilePosition), e.value(k), left,
                                list({image.h.kernel, image.w.kernel}), list({image.h.stride, image.w.stride}),
                                list({image.h.dilation, image.w.dilation}),
                                list({image.h.padBegin, image.w.padBegin, image.h.padEnd, image.w.padEnd}),
                                list({t.slabH.extent, t.slabW.extent}), e.b.getI64IntegerAttr(slabChannels));
  }

private:
  /// Where the slab of the block at output `out` begins, in strides.
  Ix start(const SlabAxis &axis, Ix out) {
    if (axis.lastStart == 0)
      return e.constant(0);
    return e.min(e.max(e.sub(out, e.constant(axis.lead)), e.constant(0)), e.constant(axis.lastStart));
  }

  /// Outputs per row that img2col sees in the slab.
  int64_t slabOutW() const {
    return (t.slabW.extent + image.w.padBegin + image.w.padEnd - image.w.dilation * (image.w.kernel - 1) - 1) /
               image.w.stride +
           1;
  }

  /// Loads `extent` channels (at most `most`) from `channel` on.
  void loadSlab(Ix channel, Ix extent, int64_t most) {
    slabChannels = most;
    int64_t pixels = t.slabH.extent * t.slabW.extent;
    slab = e.tile(pto::makeMatTile(e.context(), roundUp(pixels, 16), roundUp(most, blockChannels(c.problem.inBytes)),
                                   c.left.element),
                  e.constant(pixels), extent);
    Ix col = e.add(e.mul(outer, c.left.outerCols), channel);
    if (t.slabW.extent == image.w.in) {
      e.load(e.part(c.left, e.mul(pixelRow, image.w.in), col, e.constant(pixels), extent), slab);
      return;
    }
    e.load(e.pixels(c.left, image.w.in, pixelRow, pixelCol, col, t.slabH.extent, t.slabW.extent, extent), slab);
  }

  Emitter &e;
  const Contraction &c;
  const CubeTiling &t;
  const ConvImage &image;
  bool wholeRows;
  int64_t outputs, blocksW, blocksPerImage;
  Ix images;
  int64_t taps;
  bool onePanel;
  int64_t slabChannels = 0;
  Ix outer, first, blockExtent, pixelRow, pixelCol, position, tilePosition;
  Value slab;
};

} // namespace

std::unique_ptr<LeftSource> makeImageSource(Emitter &emitter, const Contraction &contraction,
                                            const CubeTiling &tiling) {
  return std::make_unique<ImageSource>(emitter, contraction, tiling);
}

} // namespace pto_mlir::cube
