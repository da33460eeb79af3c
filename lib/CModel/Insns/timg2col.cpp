#include "Insns.h"
#include "Element.h"

#include <cstring>

namespace pto_mlir::cmodel {

void execute(const isa::TImg2col &insn, Core &core) {
  LocalTile dst = core.tile(insn.dst, isa::Memory::L0A), src = core.wholeTile(insn.src, isa::Memory::L1);
  if (core.faulted())
    return;
  core.leftPanels.invalidate(dst);
  uint32_t c0 = 32 / dst.bytes;
  int64_t height = insn.height.value, width = insn.width, kernelH = insn.kernelH, kernelW = insn.kernelW;
  if (height <= 0 || width == 0 || kernelH == 0 || kernelW == 0 || insn.strideH == 0 || insn.strideW == 0 || height * width > src.rows ||
      insn.posK.value < 0 || insn.posK.value % c0 != 0 || insn.posM.value < 0 || dst.type != src.type || height > (1 << 20))
    return core.fault(FaultKind::IllegalShape, "an image of " + std::to_string(height) + "x" + std::to_string(width) + " in a slab of " +
                                                   std::to_string(src.rows) + " rows, from pixel " + std::to_string(insn.posM.value) +
                                                   " and column " + std::to_string(insn.posK.value));
  int64_t padTop = insn.padTop.value, padBottom = insn.padBottom.value;
  int64_t outWidth = (width + insn.padLeft + insn.padRight - int64_t(insn.dilationW) * (kernelW - 1) - 1) / insn.strideW + 1;
  int64_t outHeight = (height + padTop + padBottom - int64_t(insn.dilationH) * (kernelH - 1) - 1) / insn.strideH + 1;
  if (outWidth <= 0 || insn.posM.value + dst.validRows > outWidth * outHeight)
    return core.fault(FaultKind::OutOfRange, "output pixels " + std::to_string(insn.posM.value) + " to " +
                                                 std::to_string(insn.posM.value + dst.validRows - 1) + " of an output of " +
                                                 std::to_string(outHeight) + "x" + std::to_string(outWidth));
  // Whole groups of C0 channels (32 bytes) move at once; rows of a box follow one another in dst.
  for (uint32_t k = 0; k < dst.validCols; k += c0) {
    int64_t group = (insn.posK.value + k) / c0, window = group % (kernelH * kernelW), c1 = group / (kernelH * kernelW);
    int64_t kh = window / kernelW * insn.dilationH - padTop, kw = window % kernelW * insn.dilationW - insn.padLeft;
    int64_t channels = std::clamp<int64_t>(int64_t(insn.channels) - c1 * c0, 0, c0);
    if (channels > 0 && (c1 + 1) * c0 > src.cols)
      return core.fault(FaultKind::OutOfRange, "channel group " + std::to_string(c1) + " of a slab of " + std::to_string(src.cols) + " channels");
    const uint8_t *plane = src.data + size_t(channels > 0 ? c1 : 0) * src.rows * 32;
    int64_t oh = insn.posM.value / outWidth, ow = insn.posM.value % outWidth;
    for (uint32_t r = 0; r < dst.validRows;) {
      uint8_t *to = dst.data + dst.offset(r, k) * dst.bytes;
      for (uint32_t i = 0, n = std::min(16u, dst.validRows - r); i < n; ++i, ++r, to += 32) {
        int64_t h = oh * insn.strideH + kh, w = ow * insn.strideW + kw;
        bool inside = h >= 0 && h < height && w >= 0 && w < width && channels > 0;
        if (inside) {
          std::memcpy(to, plane + size_t(h * width + w) * 32, 32);
          if (channels < c0)
            std::memset(to + channels * dst.bytes, 0, (c0 - channels) * dst.bytes);
        } else {
          std::memset(to, 0, 32);
        }
        if (++ow == outWidth)
          ow = 0, ++oh;
      }
    }
  }
}

} // namespace pto_mlir::cmodel
