// Bounds checks of gather indices. A kernel cannot report an out-of-range index (it clamps to the nearest row), so the
// runtime checks.
#ifndef PTO_MLIR_LIB_RUNTIME_INDEXCHECK_H
#define PTO_MLIR_LIB_RUNTIME_INDEXCHECK_H

#include "VM.h"

namespace pto_mlir::runtime {

/// An index tensor of a net: an input, or a tensor that the net computes.
struct IndexUse {
  std::string name;
  std::vector<uint64_t> shape;      // as stored, i32
  std::vector<uint8_t> permutation; // to ONNX's dimensions; empty = the same ones
  uint64_t rows = 0;
  pto_arg memory{0, 0};
  bool arithmetic = false; // `rows` bounds what the net computes with
};

/// The index tensors that the net computes; their memory is valid until the next run.
std::vector<IndexUse> computedIndices(const VM &vm, const pmodel::VariantDesc &variant);
/// The inputs that are index tensors.
std::vector<IndexUse> inputIndices(const VM &vm, const pmodel::VariantDesc &variant);

/// Checks that each element of `values` (any alignment) is in [-rows, rows). A failure names `who`, the position and
/// the value.
Status checkIndex(const std::string &who, const IndexUse &index, const void *values);
/// The same for values in device memory; their producer must have completed.
Status checkIndex(Device &device, const IndexUse &index);

} // namespace pto_mlir::runtime

#endif
