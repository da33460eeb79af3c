// Host ops (glossary), shared by the VM, debug dumps and constant folding.
#ifndef PTO_MLIR_HOSTOPS_HOSTOPS_H
#define PTO_MLIR_HOSTOPS_HOSTOPS_H

#include "pto_mlir/Support/ElementType.h"
#include "pto_mlir/Support/Result.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace pto_mlir::hostops {

/// The host ops of HostOps.def; the numbers are part of the file format.
enum class HostOp : uint32_t {
#define PTO_HOST_OP(NAME, NUMBER, MNEMONIC, BUFFERS) NAME = NUMBER,
#include "pto_mlir/HostOps/HostOps.def"
#undef PTO_HOST_OP
};

/// A buffer in host memory, owned by the caller.
struct HostBuffer {
  void *data = nullptr;
  uint64_t bytes = 0;
};

/// The mnemonic of a host op ("transpose"); empty for an unknown number.
std::string_view hostOpName(int64_t number);

/// Checks number, parameters and buffer sizes (bytes); a precondition of runHostOp.
Status verifyHostOp(int64_t number, const std::vector<int64_t> &parameters, const std::vector<uint64_t> &bufferBytes);

/// Runs a verified op. Fails only on a value that the result type cannot represent.
Status runHostOp(int64_t number, const std::vector<int64_t> &parameters, const std::vector<HostBuffer> &buffers);

/// out[i0, i1, ..] = in[i permuted]: dimension d of the output is dimension permutation[d] of the input. Rank,
/// permutation and buffers must fit (verifyHostOp); elements are moved as opaque bytes.
void transpose(const void *in, void *out, uint64_t elementBytes, const std::vector<uint64_t> &shape,
               const std::vector<uint8_t> &permutation);

/// Converts `count` elements between f64, f32, f16, bf16 and the integer types of 8 to 64 bits and boolean. Floats
/// round to nearest even; a float goes to an integer toward zero. Fails on a value that does not fit the integer type;
/// the failure names it.
Status cast(const void *in, ElementType from, void *out, ElementType to, uint64_t count);

} // namespace pto_mlir::hostops

#endif
