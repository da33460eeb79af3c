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

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace pto_mlir::cube {

namespace {

class ImageSource : public LeftSource {
public:
  ImageSource(Emitter &e, const Contraction &c, const CubeTiling &t, bool loads)
      : e(e), c(c), t(t), loads(loads), image(*c.problem.image), wholeRows(t.slabCols == image.w.out),
        images(e.constant(image.batch)), height(e.constant(image.h.in)), rowsOut(e.constant(image.h.out)),
        blocksW(ceilDiv(image.w.out, t.slabCols)), taps(image.h.kernel * image.w.kernel),
        onePanel(t.panelK >= c.problem.k) {
    if (c.imagesPerSize)
      images = e.mul(e.kernelSize(0), c.imagesPerSize);
    if (c.imageRowsPerSize) {
      height = e.mul(e.kernelSize(0), c.imageRowsPerSize);
      rowsOut = e.mul(e.kernelSize(0), c.outputRowsPerSize);
    }
    outputs = e.mul(rowsOut, image.w.out);
    blocksPerImage = wholeRows ? e.ceilDiv(outputs, t.blockM) : e.mul(rowsOut, blocksW);
  }

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
    if (!loads)
      return;

    Ix last = e.div(e.max(e.sub(height, e.constant(t.slabH.extent)), e.constant(0)), image.h.stride);
    Ix startH = start(t.slabH, outH, last);
    Ix startW = wholeRows ? e.constant(0) : start(t.slabW, outW, e.constant(t.slabW.lastStart));
    pixelRow = e.add(e.mul(n, height), e.mul(startH, image.h.stride));
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
  /// Where the slab of the block at output `out` begins, `last` at most, in strides.
  Ix start(const SlabAxis &axis, Ix out, Ix last) {
    if (isConstantIntValue(last, 0))
      return last;
    return e.min(e.max(e.sub(out, e.constant(axis.lead)), e.constant(0)), last);
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
    Ix rows = e.constant(t.slabH.extent);
    Value target = slab;
    if (c.imageRowsPerSize && c.leastImageRows < t.slabH.extent) {
      clearSlab();
      rows = e.min(rows, height);
      target = e.valid(slab, e.mul(rows, t.slabW.extent), extent);
    }
    if (t.slabW.extent == image.w.in)
      e.load(e.part(c.left, e.mul(pixelRow, image.w.in), col, e.mul(rows, image.w.in), extent), target);
    else
      e.load(e.pixels(c.left, image.w.in, pixelRow, pixelCol, col, rows, t.slabW.extent, extent), target);
  }

  /// Zeros behind an image that has fewer rows than the slab: they are padding.
  void clearSlab() {
    auto type = cast<pto::TileBufType>(slab.getType());
    Ix missing = e.max(e.sub(e.constant(t.slabH.extent), height), e.constant(0));
    e.ifZero(
        missing, [] {},
        [&] {
          TypedAttr zero = isa<FloatType>(c.left.element) ? TypedAttr(e.b.getFloatAttr(c.left.element, 0))
                                                          : TypedAttr(e.b.getIntegerAttr(c.left.element, 0));
          Value scalar = e.b.create<arith::ConstantOp>(e.loc, zero);
          e.b.create<pto::TExpandSOp>(e.loc, scalar,
                                      e.valid(slab, e.constant(type.getRows()), e.constant(type.getCols())));
        });
  }

  Emitter &e;
  const Contraction &c;
  const CubeTiling &t;
  bool loads;
  const ConvImage &image;
  bool wholeRows;
  Ix images, height, rowsOut; ///< rows of an image, and of its result
  Ix outputs, blocksPerImage;
  int64_t blocksW, taps;
  bool onePanel;
  int64_t slabChannels = 0;
  Ix outer, first, blockExtent, pixelRow, pixelCol, position, tilePosition;
  Value slab;
};

} // namespace

std::unique_ptr<LeftSource> makeImageSource(Emitter &emitter, const Contraction &contraction, const CubeTiling &tiling,
                                            bool loads) {
  return std::make_unique<ImageSource>(emitter, contraction, tiling, loads);
}

} // namespace pto_mlir::cube
