// Whether the elements of an index name rows. A gather cannot stop: it reads the nearest row instead of one that is not
// there.
#ifndef PTO_MLIR_LIB_RUNTIME_INDEXCHECK_H
#define PTO_MLIR_LIB_RUNTIME_INDEXCHECK_H

#include "VM.h"

namespace pto_mlir::runtime {

/// An index of a net: one of its inputs, or a tensor that it computes.
struct IndexUse {
  std::string name;
  std::vector<uint64_t> shape;      // as stored, i32
  std::vector<uint8_t> permutation; // to ONNX's dimensions; empty = the same ones
  uint64_t rows = 0;
  pto_arg memory{0, 0};
};

/// The indices that the net computes, where they lie from the last run to the next.
std::vector<IndexUse> computedIndices(const VM &vm, const pmodel::VariantDesc &variant);
/// The inputs that are indices.
std::vector<IndexUse> inputIndices(const VM &vm, const pmodel::VariantDesc &variant);

/// Each of `values`, the elements of `index` in any alignment, is in [-rows, rows). `who` names the index in the
/// failure, with place and value.
Status checkIndex(const std::string &who, const IndexUse &index, const void *values);
/// The same with values in device memory; what writes them has ended.
Status checkIndex(Device &device, const IndexUse &index);

} // namespace pto_mlir::runtime

#endif
