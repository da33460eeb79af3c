// NumPy's .npy format (NEP 1), restricted to dense arrays of numbers.
#ifndef PTO_MLIR_RUNTIME_NPY_H
#define PTO_MLIR_RUNTIME_NPY_H

#include "pto_mlir/Support/ElementType.h"
#include "pto_mlir/Support/Result.h"

#include <string>
#include <vector>

namespace pto_mlir::runtime {

/// A dense array in host memory.
struct NpyArray {
  ElementType type = ElementType::F32;
  std::vector<uint64_t> shape;
  std::vector<char> data; // dense, row-major
};

/// Reads a little-endian, row-major array of an integer, float or boolean type (format versions 1 to 3). Failures begin
/// with the path.
Result<NpyArray> readNpy(const std::string &path);

/// Writes format version 1. Types that numpy lacks (bf16, 8- and 4-bit floats) are written as unsigned bits.
Status writeNpy(const std::string &path, const NpyArray &array);

} // namespace pto_mlir::runtime

#endif
