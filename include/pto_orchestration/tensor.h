// A tensor in global memory as kernels and orchestrators of PyPTO's output tree see it: plain data, no runtime behind
// it.
#ifndef PTO_ORCHESTRATION_TENSOR_H
#define PTO_ORCHESTRATION_TENSOR_H

#include <stdint.h>

enum class DataType : int32_t {
  FLOAT32,
  FLOAT16,
  BFLOAT16,
  INT8,
  INT16,
  INT32,
  INT64,
  UINT8,
  UINT16,
  UINT32,
  UINT64,
  BOOL
};

inline constexpr uint64_t kElementBytes[] = {4, 2, 2, 1, 2, 4, 8, 1, 2, 4, 8, 1};

struct TensorBuffer {
  uint64_t addr; ///< of the first element
  uint64_t size; ///< bytes from the first to behind the last element
};

struct Tensor {
  static constexpr uint32_t kMostAxes = 8;

  TensorBuffer buffer = {};
  uint64_t start_offset = 0; ///< elements behind buffer.addr; views move buffer.addr itself
  uint32_t ndims = 0;
  DataType dtype = DataType::FLOAT32;
  uint64_t shapes[kMostAxes] = {};
  uint64_t strides[kMostAxes] = {}; ///< elements

  /// A row-major tensor at `address`.
  template <class Extent> static Tensor at(uint64_t address, const Extent *shapes, uint32_t ndims, DataType dtype) {
    Tensor tensor;
    tensor.buffer.addr = address;
    tensor.ndims = ndims < kMostAxes ? ndims : kMostAxes;
    tensor.dtype = dtype;
    uint64_t dense = 1;
    for (uint32_t axis = tensor.ndims; axis-- > 0; dense *= tensor.shapes[axis]) {
      tensor.shapes[axis] = uint64_t(shapes[axis]);
      tensor.strides[axis] = dense;
    }
    tensor.measure();
    return tensor;
  }

  int64_t extent(uint32_t axis) const { return axis < ndims ? int64_t(shapes[axis]) : 0; }
  /// Row-major without gaps, as kernels read it.
  bool isDense() const {
    uint64_t dense = 1;
    for (uint32_t axis = ndims; axis-- > 0; dense *= shapes[axis])
      if (shapes[axis] != 1 && strides[axis] != dense)
        return false;
    return true;
  }
  /// Whether the window of `extents` at `offsets` has elements and lies inside.
  template <class Extent, class Offset, unsigned N>
  bool holds(const Extent (&extents)[N], const Offset (&offsets)[N]) const {
    if (N != ndims)
      return false;
    for (uint32_t axis = 0; axis < N; ++axis)
      if (extents[axis] < 1 || uint64_t(offsets[axis]) > shapes[axis] ||
          uint64_t(extents[axis]) > shapes[axis] - uint64_t(offsets[axis]))
        return false;
    return true;
  }

  uint64_t elementBytes() const { return kElementBytes[static_cast<int32_t>(dtype)]; }
  uint64_t numel() const {
    uint64_t count = 1;
    for (uint32_t axis = 0; axis < ndims; ++axis)
      count *= shapes[axis];
    return count;
  }

  /// The window of `extents` that begins at `offsets`; it shares the memory.
  template <class Extent, class Offset, unsigned N>
  Tensor view(const Extent (&extents)[N], const Offset (&offsets)[N]) const {
    Tensor part = *this;
    for (uint32_t axis = 0; axis < N && axis < ndims; ++axis) {
      part.shapes[axis] = uint64_t(extents[axis]);
      part.buffer.addr += uint64_t(offsets[axis]) * strides[axis] * elementBytes();
    }
    part.measure();
    return part;
  }
  /// The elements of a row-major tensor with other extents.
  template <class Extent> Tensor reshape(const Extent *extents, uint32_t count) const {
    return at(buffer.addr, extents, count, dtype);
  }
  /// Two axes exchanged; it shares the memory.
  Tensor transpose(uint32_t a, uint32_t b) const {
    Tensor turned = *this;
    turned.shapes[a] = shapes[b], turned.shapes[b] = shapes[a];
    turned.strides[a] = strides[b], turned.strides[b] = strides[a];
    return turned;
  }

private:
  void measure() {
    uint64_t last = 0;
    for (uint32_t axis = 0; axis < ndims; ++axis)
      last += shapes[axis] ? (shapes[axis] - 1) * strides[axis] : 0;
    buffer.size = (last + 1) * elementBytes();
  }
};

using ChipTensor = Tensor; // today's name

#endif // PTO_ORCHESTRATION_TENSOR_H
