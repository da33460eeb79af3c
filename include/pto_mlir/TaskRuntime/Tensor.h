// A strided view of memory, the unit of dependency tracking.
#ifndef PTO_MLIR_TASKRUNTIME_TENSOR_H
#define PTO_MLIR_TASKRUNTIME_TENSOR_H

#include "pto_mlir/TaskRuntime/Region.h"
#include "pto_mlir/TaskRuntime/Types.h"

#include <cassert>
#include <initializer_list>

namespace pto_mlir::tasks {

inline constexpr unsigned kMaxRank = 6;

/// Address, element size in bytes, shape and strides in elements. The memory is owned by the task `owner`, or by the
/// caller.
struct Tensor {
  uint64_t address = 0;
  uint32_t elementBytes = 1;
  uint32_t rank = 0;
  int64_t shape[kMaxRank] = {};
  int64_t strides[kMaxRank] = {};
  TaskId owner;

  /// A dense row-major tensor. Strides wrap around on overflow; `submit` fails to allocate such a tensor.
  static Tensor dense(uint64_t address, uint32_t elementBytes, std::initializer_list<int64_t> shape) {
    Tensor tensor;
    tensor.address = address;
    tensor.elementBytes = elementBytes;
    assert(shape.size() <= kMaxRank && "a tensor has at most kMaxRank dimensions");
    for (int64_t extent : shape)
      tensor.shape[tensor.rank++] = extent;
    uint64_t stride = 1;
    for (unsigned i = tensor.rank; i-- > 0; stride *= uint64_t(tensor.shape[i]))
      tensor.strides[i] = int64_t(stride);
    return tensor;
  }
  static Tensor dense(const void *address, uint32_t elementBytes, std::initializer_list<int64_t> shape) {
    return dense(uint64_t(reinterpret_cast<uintptr_t>(address)), elementBytes, shape);
  }

  /// The view of [begin, begin + extent) in dimension `dim`.
  Tensor slice(unsigned dim, int64_t begin, int64_t extent) const {
    Tensor part = *this;
    part.address += uint64_t(begin) * uint64_t(strides[dim]) * elementBytes;
    part.shape[dim] = extent;
    return part;
  }

  int64_t elements() const {
    int64_t count = 1;
    for (unsigned i = 0; i < rank; ++i)
      count *= shape[i];
    return count;
  }
  Region region() const { return Region::view(address, elementBytes, rank, shape, strides); }
};

} // namespace pto_mlir::tasks

#endif
