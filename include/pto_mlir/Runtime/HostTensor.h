// Tensors in host memory.
#ifndef PTO_MLIR_RUNTIME_HOSTTENSOR_H
#define PTO_MLIR_RUNTIME_HOSTTENSOR_H

#include "pto_mlir/Support/ElementType.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace pto_mlir::runtime {

/// A dense row-major tensor, owned by the caller. The data of strings is an array of std::string_view.
struct InputTensor {
  std::string_view name;
  ElementType type = ElementType::F32;
  std::vector<uint64_t> shape;
  const void *data = nullptr;
};

/// A dense row-major tensor returned by a run; one of strings has `strings` instead of data.
struct HostTensor {
  std::string name;
  ElementType type = ElementType::F32;
  std::vector<uint64_t> shape;
  std::unique_ptr<std::byte[]> data;
  uint64_t bytes = 0;
  std::vector<std::string> strings;
};

} // namespace pto_mlir::runtime

#endif
