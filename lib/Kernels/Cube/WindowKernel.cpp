//===- WindowKernel.cpp - a convolution without img2col -------------------===//
//
// For devices and dialects that have no move from an image to columns: each
// tap of the window is a product of its own. The pixels that one tap sees of
// neighbouring outputs are a strided view of the image, and its weights are
// rows of the packed filter.
//
// Padding is never loaded. Outputs whose windows have the same taps inside the
// image form rectangles (nine of them for a 3x3 window with a border of one),
// and each rectangle has loops over just those taps:
//
// for (rectangle)
//   for (outer) for (block of columns) for (rows x columns of its outputs)
//     for (tap) for (channels)       L1, L0A, L0B, tmatmul
//     store from L0C
//
//===----------------------------------------------------------------------===//

#include "Emitter.h"
#include "KernelBuilder.h"

using namespace mlir;

namespace pto_mlir::cube {

namespace {

/// Outputs [begin, end) of an axis whose windows have the taps [first, last)
/// inside the image.
struct Stretch {
  int64_t begin, end, first, last;
};

SmallVector<Stretch> stretchesOf(const ConvAxis &axis) {
  SmallVector<Stretch> all;
  for (int64_t out = 0; out < axis.out; ++out) {
    int64_t origin = out * axis.stride - axis.padBegin;
    int64_t first = origin < 0 ? ceilDiv(-origin, axis.dilation) : 0;
    int64_t room = axis.in - origin; // taps lie at origin + tap * dilation
    int64_t last = std::min(axis.kernel, room > 0 ? ceilDiv(room, axis.dilation) : 0);
    first = std::min(first, last);
    if (!all.empty() && all.back().first == first && all.back().last == last)
      ++all.back().end;
    else
      all.push_back({out, out + 1, first, last});
  }
  return all;
}

class WindowKernel {
public:
  WindowKernel(func::FuncOp func, const Contraction &c, const CubeTiling &t, int64_t cores)
      : e(func), c(c), t(t), image(*c.problem.image), block(blockChannels(c.problem.inBytes)) {
    e.cores = cores;
  }

  void run() {
    for (const Stretch &rows : stretchesOf(image.h))
      for (const Stretch &cols : stretchesOf(image.w))
        emitRectangle(rows, cols);
    e.b.create<func::ReturnOp>(e.loc);
  }

private:
  void emitRectangle(const Stretch &rows, const Stretch &cols) {
    int64_t height = rows.end - rows.begin, width = cols.end - cols.begin;
    int64_t tileW = std::min(width, t.baseM);
    int64_t tileH = tileW == width ? std::min(height, std::max<int64_t>(t.baseM / width, 1)) : 1;
    int64_t blocksW = ceilDiv(width, tileW), blocksH = ceilDiv(height, tileH), blocksN = ceilDiv(c.problem.n, t.blockN);
    e.spread(c.problem.outer * blocksN * image.batch * blocksH * blocksW, [&](Ix share) {
      Ix across = e.mul(e.rem(share, blocksW), tileW), rest = e.div(share, blocksW);
      Ix down = e.mul(e.rem(rest, blocksH), tileH);
      rest = e.div(rest, blocksH);
      Ix number = e.rem(rest, image.batch);
      rest = e.div(rest, image.batch);
      n = e.mul(e.rem(rest, blocksN), t.blockN);
      outer = e.div(rest, blocksN);
      extentN = e.extent(n, std::min(t.blockN, c.problem.n), c.problem.n);
      extentH = e.extent(down, tileH, height);
      extentW = e.extent(across, tileW, width);
      // The product of the extents, at least one of which is a constant 1 or all of its axis.
      outputs = tileH == 1 ? extentW : e.mul(extentH, width);
      boxRows = roundUp(tileH * tileW, 16);
      outH = e.add(down, e.constant(rows.begin));
      outW = e.add(across, e.constant(cols.begin));
      imageNumber = number;
      emitTile(rows, cols);
    });
  }

  void emitTile(const Stretch &rows, const Stretch &cols) {
    Value bias, scales;
    if (c.bias)
      bias = loadBias(e, c, outer, n, t.baseN, extentN);
    if (c.scales)
      scales = loadScales(e, c, outer, n, t.baseN, extentN);
    Value acc = e.tile(pto::makeAccTile(e.context(), boxRows, t.baseN, c.accumulator), outputs, extentN);
    int64_t step = std::min(roundUp(image.channels, block), std::max(t.baseK / block, int64_t(1)) * block);
    taps(rows, [&](Ix tapH) {
      taps(cols, [&](Ix tapW) {
        e.loop(e.constant(image.channels), step, [&](Ix channel) {
          Ix extent = e.extent(channel, std::min(step, image.channels), image.channels);
          Value left = loadPixels(tapH, tapW, channel, extent, step),
                right = loadFilter(tapH, tapW, channel, extent, step);
          Ix position = e.add(e.add(e.sub(tapH, e.constant(rows.first)), e.sub(tapW, e.constant(cols.first))), channel);
          e.ifZero(
              position,
              [&] {
                if (bias)
                  e.b.create<pto::TMatmulBiasOp>(e.loc, left, right, bias, acc);
                else
                  e.b.create<pto::TMatmulOp>(e.loc, left, right, acc);
              },
              [&] { e.b.create<pto::TMatmulAccOp>(e.loc, acc, left, right, acc); });
        });
      });
    });
    Ix pixel = e.add(e.mul(e.add(e.mul(imageNumber, image.h.out), outH), image.w.out), outW);
    Ix offset = e.add(e.mul(e.add(e.rowOf(c.out, outer), pixel), c.out.cols), e.add(e.colOf(c.out, outer), n));
    Value view = e.box(c.out, offset, {extentH, extentW, extentN}, {image.w.out * c.out.cols, c.out.cols, 1});
    storeSums(e, c, acc, scales, view);
  }

  void taps(const Stretch &stretch, Emitter::Body body) {
    if (stretch.last - stretch.first == 1)
      return body(e.constant(stretch.first));
    e.loop(e.constant(stretch.first), e.constant(stretch.last), body);
  }

  /// What one tap sees of the block's outputs, in L0A.
  Value loadPixels(Ix tapH, Ix tapW, Ix channel, Ix extent, int64_t most) {
    auto place = [&](const ConvAxis &axis, Ix out, Ix tap) {
      return e.sub(e.add(e.mul(out, axis.stride), e.mul(tap, axis.dilation)), e.constant(axis.padBegin));
    };
    Ix row = e.add(e.mul(imageNumber, image.h.in), place(image.h, outH, tapH));
    Ix pixel = e.add(e.mul(row, image.w.in), place(image.w, outW, tapW));
    int64_t pitch = c.left.cols;
    Ix offset = e.add(e.mul(pixel, pitch), e.add(e.mul(outer, c.left.outerCols), channel));
    Value panel = e.tile(pto::makeMatTile(e.context(), boxRows, most, c.left.element), outputs, extent);
    e.load(e.box(c.left, offset, {extentH, extentW, extent},
                 {image.h.stride * image.w.in * pitch, image.w.stride * pitch, 1}),
           panel);
    Value left = e.tile(pto::makeLeftTile(e.context(), e.arch, boxRows, most, c.left.element), outputs, extent);
    e.b.create<pto::TExtractOp>(e.loc, panel, e.value(e.constant(0)), e.value(e.constant(0)), left);
    return left;
  }

  /// The weights of one tap for the channels from `channel` on, in L0B. Packed, they are runs of one block of channels
  /// each.
  Value loadFilter(Ix tapH, Ix tapW, Ix channel, Ix extent, int64_t most) {
    int64_t window = image.h.kernel * image.w.kernel, pitch = c.right.cols;
    Ix tap = e.add(e.mul(tapH, image.w.kernel), tapW);
    Ix row = e.add(e.rowOf(c.right, outer), e.add(e.mul(channel, window), e.mul(tap, block)));
    Ix offset = e.add(e.mul(row, pitch), e.add(e.colOf(c.right, outer), n));
    Ix blocks = e.ceilDiv(extent, block);
    Value panel = e.tile(pto::makeMatTile(e.context(), roundUp(most, 16), t.baseN, c.right.element),
                         e.mul(blocks, block), extentN);
    e.load(e.box(c.right, offset, {blocks, e.constant(block), extentN}, {window * block * pitch, pitch, 1}), panel);
    Value right = e.tile(pto::makeRightTile(e.context(), most, t.baseN, c.right.element), extent, extentN);
    e.b.create<pto::TExtractOp>(e.loc, panel, e.value(e.constant(0)), e.value(e.constant(0)), right);
    return right;
  }

  Emitter e;
  const Contraction &c;
  const CubeTiling &t;
  const ConvImage &image;
  int64_t block; // channels of 32 bytes
  int64_t boxRows = 16;
  Ix outer, n, extentN, extentH, extentW, outputs, outH, outW, imageNumber;
};

} // namespace

bool canBuildWindowKernel(const Contraction &contraction) {
  // Rectangles of outputs are of constant images.
  if (!contraction.problem.image || contraction.imagesPerSize || contraction.imageRowsPerSize)
    return false;
  auto empty = [](const ConvAxis &axis) {
    return llvm::any_of(stretchesOf(axis), [](const Stretch &stretch) { return stretch.first == stretch.last; });
  };
  return !empty(contraction.problem.image->h) && !empty(contraction.problem.image->w);
}

void buildWindowKernel(func::FuncOp func, const Contraction &contraction, const CubeTiling &tiling, int64_t cores) {
  WindowKernel(func, contraction, tiling, cores).run();
}

} // namespace pto_mlir::cube
