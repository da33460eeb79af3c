// Operations that move elements without reading them.
#include "Wide.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <type_traits>

namespace pto_mlir::hostops {

namespace {

// `count` elements of `size` bytes; the strides are in elements.
void copyRun(std::byte *out, int64_t outStride, const std::byte *in, int64_t inStride, int64_t count, uint64_t size) {
  auto copyEach = [&](auto bytes) { // a constant number of bytes is one move
    for (int64_t i = 0; i < count; ++i)
      std::memcpy(out + i * outStride * int64_t(bytes), in + i * inStride * int64_t(bytes), bytes);
  };
  if (outStride == 1 && inStride == 1)
    std::memcpy(out, in, uint64_t(count) * size);
  else if (size == 1)
    copyEach(std::integral_constant<uint64_t, 1>());
  else if (size == 2)
    copyEach(std::integral_constant<uint64_t, 2>());
  else if (size == 4)
    copyEach(std::integral_constant<uint64_t, 4>());
  else
    copyEach(size);
}

} // namespace

Status moveStrided(const TensorCall &call, const std::vector<int64_t> &shape, const std::vector<int64_t> &strides,
                   int64_t base) {
  auto made = allocate(call, shape);
  if (!made)
    return made.failure();
  std::byte *out = *made;
  uint64_t size = elementSize(call.inputs[0].type);
  forEachRun(shape, strides, base, [&](int64_t offset, int64_t count, int64_t stride) {
    copyRun(out, 1, call.inputs[0].data + offset * int64_t(size), stride, count, size);
    out += uint64_t(count) * size;
  });
  return {};
}

namespace {

using Shape = std::vector<int64_t>;

Status reshape(const TensorCall &call) {
  Shape shape = parameter<Shape>(call, "shape", {});
  auto open = std::find(shape.begin(), shape.end(), -1);
  int64_t count = int64_t(countOf(call.inputs[0].shape));
  if (open != shape.end()) {
    *open = 1;
    int64_t rest = int64_t(countOf(shape));
    *open = rest ? count / rest : 0;
  }
  if (int64_t(countOf(shape)) != count)
    return Failure{"a reshape to another number of elements"};
  return moveStrided(call, shape, stridesOf(shape));
}

// The same bytes as elements of another type. Packed ones have a byte each here, and are compared before.
Status bitcast(const TensorCall &call) {
  if (elementSize(call.resultType) != elementSize(call.inputs[0].type))
    return Failure{"the elements of a bitcast have another size"};
  return moveStrided(call, call.inputs[0].shape, stridesOf(call.inputs[0].shape));
}

Status permute(const TensorCall &call) {
  Shape perm = parameter<Shape>(call, "perm", {}), own = stridesOf(call.inputs[0].shape), shape, strides;
  Shape sorted = perm, all(own.size());
  std::sort(sorted.begin(), sorted.end());
  std::iota(all.begin(), all.end(), 0);
  if (sorted != all)
    return Failure{"perm is no permutation of the dimensions"};
  for (int64_t d : perm) {
    shape.push_back(call.inputs[0].shape[size_t(d)]);
    strides.push_back(own[size_t(d)]);
  }
  return moveStrided(call, shape, strides);
}

Status slice(const TensorCall &call) {
  Shape starts = parameter<Shape>(call, "starts", {}), ends = parameter<Shape>(call, "ends", {}),
        steps = parameter<Shape>(call, "steps", {}), own = stridesOf(call.inputs[0].shape), shape, strides;
  if (starts.size() != own.size() || ends.size() != own.size() || steps.size() != own.size())
    return Failure{"a slice takes one start, end and step per dimension"};
  int64_t base = 0;
  for (size_t d = 0; d < own.size(); ++d) {
    int64_t size = call.inputs[0].shape[d], step = std::clamp(steps[d], -size - 1, size + 1);
    if (step == 0 || starts[d] < 0 || starts[d] > size || ends[d] < -1 || ends[d] > size)
      return Failure{"a slice leaves dimension " + std::to_string(d)};
    int64_t span = step > 0 ? ends[d] - starts[d] : starts[d] - ends[d],
            count = (span + std::abs(step) - 1) / std::abs(step);
    count = std::max<int64_t>(count, 0);
    if (count > 0 && starts[d] == size)
      return Failure{"a slice leaves dimension " + std::to_string(d)};
    shape.push_back(count);
    strides.push_back(own[d] * step);
    base += count > 0 ? starts[d] * own[d] : 0;
  }
  return moveStrided(call, shape, strides, base);
}

Status expand(const TensorCall &call) {
  TensorView target{ElementType::F32, parameter<Shape>(call, "shape", {}), nullptr};
  const TensorView both[] = {call.inputs[0], target};
  auto shape = broadcastShape(both);
  if (!shape)
    return Failure{"the operand does not broadcast to the shape"};
  return moveStrided(call, *shape, broadcastStrides(call.inputs[0].shape, *shape));
}

Status concat(const TensorCall &call) {
  Shape shape = call.inputs[0].shape;
  int64_t axis = parameter<int64_t>(call, "axis", 0);
  if (axis < 0 || axis >= int64_t(shape.size()))
    return Failure{"its axis is " + std::to_string(axis)};
  shape[size_t(axis)] = 0;
  for (const TensorView &input : call.inputs) {
    for (size_t d = 0; d < shape.size() || d < input.shape.size(); ++d)
      if (input.shape.size() != shape.size() || (d != size_t(axis) && input.shape[d] != shape[d]))
        return Failure{"the operands of a concatenation differ beside the axis"};
    shape[size_t(axis)] += input.shape[size_t(axis)];
  }
  auto made = allocate(call, shape);
  if (!made)
    return made.failure();
  std::byte *out = *made;
  uint64_t size = elementSize(call.inputs[0].type), outer = 1, inner = size;
  for (size_t d = 0; d < shape.size(); ++d)
    (d < size_t(axis) ? outer : inner) *= d == size_t(axis) ? 1 : uint64_t(shape[d]);
  for (uint64_t block = 0; block < outer; ++block)
    for (const TensorView &input : call.inputs) {
      uint64_t bytes = inner * uint64_t(input.shape[size_t(axis)]);
      if (bytes)
        std::memcpy(out, input.data + block * bytes, bytes);
      out += bytes;
    }
  return {};
}

// As top.gather, but an index outside of the dimension is an error.
Status gather(const TensorCall &call) {
  const TensorView &data = call.inputs[0];
  int64_t axis = parameter<int64_t>(call, "axis", 0);
  if (axis < 0 || axis >= int64_t(data.shape.size()))
    return Failure{"its axis is " + std::to_string(axis)};
  Shape shape(data.shape.begin(), data.shape.begin() + axis);
  shape.insert(shape.end(), call.inputs[1].shape.begin(), call.inputs[1].shape.end());
  shape.insert(shape.end(), data.shape.begin() + axis + 1, data.shape.end());
  auto made = allocate(call, shape);
  if (!made)
    return made.failure();
  std::byte *out = *made;
  uint64_t outer = 1, inner = elementSize(data.type);
  for (size_t d = 0; d < data.shape.size(); ++d)
    if (d != size_t(axis))
      (d < size_t(axis) ? outer : inner) *= uint64_t(data.shape[d]);
  int64_t size = data.shape[size_t(axis)];
  std::vector<int64_t> indices = load<int64_t>(call.inputs[1]);
  for (size_t i = 0; i < indices.size(); ++i)
    if (indices[i] < -size || indices[i] >= size)
      return Failure{"element [" + std::to_string(i) + "] of the indices is " + std::to_string(indices[i]) +
                     ", but it names one of " + std::to_string(size) + " rows"};
  for (uint64_t block = 0; block < outer; ++block)
    for (int64_t index : indices) {
      int64_t row = index < 0 ? index + size : index;
      std::memcpy(out, data.data + (block * uint64_t(size) + uint64_t(row)) * inner, inner);
      out += inner;
    }
  return {};
}

// `pads`: one begin per dimension, then one end per dimension.
Status pad(const TensorCall &call) {
  Shape pads = parameter<Shape>(call, "pads", {}), shape = call.inputs[0].shape, strides;
  size_t rank = shape.size();
  if (pads.size() != 2 * rank ||
      std::any_of(pads.begin(), pads.end(), [](int64_t n) { return n < 0 || n > INT32_MAX; }))
    return Failure{"a pad takes two sizes per dimension, none negative"};
  for (size_t d = 0; d < rank; ++d)
    shape[d] += pads[d] + pads[rank + d];
  auto made = allocate(call, shape);
  if (!made)
    return made.failure();
  std::byte *out = *made;
  uint64_t size = elementSize(call.inputs[0].type), count = countOf(shape);
  store(std::vector<double>(count ? 1 : 0, parameter<double>(call, "value", 0)), call.resultType, out);
  for (uint64_t i = 1; i < count; ++i)
    std::memcpy(out + i * size, out, size);
  strides = stridesOf(shape);
  int64_t base = 0;
  for (size_t d = 0; d < rank; ++d)
    base += pads[d] * strides[d];
  const std::byte *in = call.inputs[0].data;
  forEachRun(call.inputs[0].shape, strides, base, [&](int64_t offset, int64_t run, int64_t stride) {
    copyRun(out + uint64_t(offset) * size, stride, in, 1, run, size);
    in += uint64_t(run) * size;
  });
  return {};
}

struct MovementRow {
  std::string_view name;
  size_t inputs; ///< 0: any number
  Status (*run)(const TensorCall &);
};
constexpr MovementRow kRows[] = {{"reshape", 1, reshape}, {"permute", 1, permute}, {"slice", 1, slice},
                                 {"expand", 1, expand},   {"concat", 0, concat},   {"gather", 2, gather},
                                 {"pad", 1, pad},         {"bitcast", 1, bitcast}};

const MovementRow *rowOf(std::string_view name, size_t inputs) {
  for (const MovementRow &row : kRows)
    if (row.name == name && (row.inputs == inputs || (row.inputs == 0 && inputs > 0)))
      return &row;
  return nullptr;
}

} // namespace

bool hasMovement(std::string_view name, size_t inputs) { return rowOf(name, inputs) != nullptr; }

std::optional<Status> runMovement(const TensorCall &call) {
  const MovementRow *row = rowOf(call.name, call.inputs.size());
  if (!row)
    return std::nullopt;
  if (call.resultType != call.inputs[0].type && call.name != "bitcast")
    return Failure{"moves elements into another type"};
  return row->run(call);
}

} // namespace pto_mlir::hostops
