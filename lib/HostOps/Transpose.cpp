#include "pto_mlir/HostOps/HostOps.h"

#include <cstring>

namespace pto_mlir::hostops {

void transpose(const void *in, void *out, uint64_t elementBytes, const std::vector<uint64_t> &shape,
               const std::vector<uint8_t> &permutation) {
  size_t rank = shape.size();
  std::vector<uint64_t> inStride(rank), outShape(rank), stride(rank), index(rank, 0);
  uint64_t count = 1;
  for (size_t d = rank; d-- > 0;) {
    inStride[d] = count * elementBytes;
    count *= shape[d];
  }
  for (size_t d = 0; d < rank; ++d) {
    outShape[d] = shape[permutation[d]];
    stride[d] = inStride[permutation[d]];
  }
  auto *source = static_cast<const char *>(in);
  auto *target = static_cast<char *>(out);
  for (uint64_t i = 0; i < count; ++i, target += elementBytes) {
    std::memcpy(target, source, elementBytes);
    // Advance the output index in row-major order, and the source pointer with it.
    for (size_t d = rank; d-- > 0;) {
      source += stride[d];
      if (++index[d] < outShape[d])
        break;
      source -= stride[d] * outShape[d];
      index[d] = 0;
    }
  }
}

} // namespace pto_mlir::hostops
