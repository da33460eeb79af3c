#include "Arithmetic/Element.h"
#include "Insns/Insns.h"

#include <algorithm>
#include <cstring>

namespace pto_mlir::cmodel {

namespace {

/// Copies 32 bytes of which only the first `bytes` are kept; the rest become zero.
struct PixelMask {
  uint8_t keep[32];
  explicit PixelMask(size_t bytes) {
    for (size_t i = 0; i < 32; ++i)
      keep[i] = i < bytes ? 0xff : 0;
  }
  void copy(uint8_t *to, const uint8_t *from) const {
    for (size_t i = 0; i < 32; ++i)
      to[i] = from[i] & keep[i];
  }
};

/// Copies n pixels of 32 bytes from columns w, w + stride, ... of an image row; pixels outside [0, width) are zero.
template <bool Whole>
void copyPixels(uint8_t *to, const uint8_t *row, int64_t w, int64_t stride, int64_t width, uint32_t n,
                const PixelMask &mask) {
  uint32_t i = 0;
  for (; i < n && w < 0; ++i, w += stride)
    std::memset(to + i * 32, 0, 32);
  if (Whole && stride == 1 && w < width) {
    auto inside = uint32_t(std::min<int64_t>(n - i, width - w));
    std::memcpy(to + i * 32, row + w * 32, inside * 32);
    i += inside;
  } else {
    for (; i < n && w < width; ++i, w += stride)
      if (Whole)
        std::memcpy(to + i * 32, row + w * 32, 32);
      else
        mask.copy(to + i * 32, row + w * 32);
  }
  if (i < n)
    std::memset(to + i * 32, 0, (n - i) * 32);
}

} // namespace

void execute(const isa::TImg2col &insn, Core &core) {
  LocalTile dst = core.tile(insn.dst, isa::Memory::L0A), src = core.wholeTile(insn.src, isa::Memory::L1);
  if (core.faulted())
    return;
  core.leftPanels.invalidate(dst);
  uint32_t c0 = 32 / dst.bytes;
  int64_t height = insn.height.value, width = insn.width, kernelH = insn.kernelH, kernelW = insn.kernelW;
  if (height <= 0 || width == 0 || kernelH == 0 || kernelW == 0 || insn.strideH == 0 || insn.strideW == 0 ||
      height * width > src.rows || insn.posK.value < 0 || insn.posK.value % c0 != 0 || insn.posM.value < 0 ||
      dst.type != src.type || height > (1 << 20))
    return core.fault(FaultKind::IllegalShape, "an image of " + std::to_string(height) + "x" + std::to_string(width) +
                                                   " in a slab of " + std::to_string(src.rows) + " rows, from pixel " +
                                                   std::to_string(insn.posM.value) + " and column " +
                                                   std::to_string(insn.posK.value));
  int64_t padTop = insn.padTop.value, padBottom = insn.padBottom.value;
  int64_t outWidth =
      (width + insn.padLeft + insn.padRight - int64_t(insn.dilationW) * (kernelW - 1) - 1) / insn.strideW + 1;
  int64_t outHeight = (height + padTop + padBottom - int64_t(insn.dilationH) * (kernelH - 1) - 1) / insn.strideH + 1;
  if (outWidth <= 0 || insn.posM.value + dst.validRows > outWidth * outHeight)
    return core.fault(FaultKind::OutOfRange, "output pixels " + std::to_string(insn.posM.value) + " to " +
                                                 std::to_string(insn.posM.value + dst.validRows - 1) +
                                                 " of an output of " + std::to_string(outHeight) + "x" +
                                                 std::to_string(outWidth));
  // Moves whole groups of C0 channels (32 bytes). boxPitch: bytes from a box to the one below it, a row of boxes in ZZ,
  // adjacent boxes in NZ.
  size_t boxPitch = insn.dst.layout == isa::Layout::NZ ? 512 : size_t(dst.cols) * 16 * dst.bytes;
  for (uint32_t k = 0; k < dst.validCols; k += c0) {
    int64_t group = (insn.posK.value + k) / c0, window = group % (kernelH * kernelW), c1 = group / (kernelH * kernelW);
    int64_t kh = window / kernelW * insn.dilationH - padTop, kw = window % kernelW * insn.dilationW - insn.padLeft;
    int64_t channels = std::clamp<int64_t>(int64_t(insn.channels) - c1 * c0, 0, c0);
    if (channels > 0 && (c1 + 1) * c0 > src.cols)
      return core.fault(FaultKind::OutOfRange, "channel group " + std::to_string(c1) + " of a slab of " +
                                                   std::to_string(src.cols) + " channels");
    const uint8_t *plane = src.data + size_t(channels > 0 ? c1 : 0) * src.rows * 32;
    PixelMask mask(size_t(channels) * dst.bytes);
    int64_t oh = insn.posM.value / outWidth, ow = insn.posM.value % outWidth;
    uint8_t *column = dst.data + dst.offset(0, k) * dst.bytes;
    for (uint32_t r = 0; r < dst.validRows;) {
      // Pixels of one output row within a box of 16 rows of dst: contiguous in dst, `strideW` apart in the image.
      auto n = uint32_t(std::min<int64_t>({16 - r % 16, dst.validRows - r, outWidth - ow}));
      uint8_t *to = column + size_t(r / 16) * boxPitch + r % 16 * 32;
      int64_t h = oh * insn.strideH + kh, w = ow * insn.strideW + kw;
      if (channels == 0 || h < 0 || h >= height)
        std::memset(to, 0, n * 32);
      else if (channels == c0)
        copyPixels<true>(to, plane + h * width * 32, w, insn.strideW, width, n, mask);
      else
        copyPixels<false>(to, plane + h * width * 32, w, insn.strideW, width, n, mask);
      r += n;
      ow += n;
      if (ow == outWidth)
        ow = 0, ++oh;
    }
  }
}

} // namespace pto_mlir::cmodel
