// Softmax and normalisations of floats. Sums run in row-major order.
#include "Wide.h"

#include <algorithm>
#include <cmath>

namespace pto_mlir::hostops {

namespace {

using Shape = std::vector<int64_t>;

int64_t countFrom(const Shape &shape, size_t first) {
  return int64_t(countOf({shape.begin() + long(first), shape.end()}));
}

// Elements of a line are `step` apart. A line of infinities or NaN gives NaN, as its formula.
void softmaxLine(double *line, int64_t size, int64_t step) {
  double most = line[0], all = 0;
  for (int64_t i = 1; i < size; ++i)
    most = std::max(most, line[i * step]);
  for (int64_t i = 0; i < size; ++i)
    all += line[i * step] = std::exp(line[i * step] - most);
  for (int64_t i = 0; i < size; ++i)
    line[i * step] /= all;
}

Status softmax(const TensorCall &call) {
  const Shape &shape = call.inputs[0].shape;
  int64_t axis = parameter<int64_t>(call, "axis", -1);
  if (axis < 0 || axis >= int64_t(shape.size()))
    return Failure{"its axis is " + std::to_string(axis)};
  return finish(call, shape, [&] {
    std::vector<double> values = load<double>(call.inputs[0]);
    int64_t size = shape[size_t(axis)], step = countFrom(shape, size_t(axis) + 1), block = size * step;
    for (int64_t begin = 0; begin < int64_t(values.size()); begin += block)
      for (int64_t i = 0; i < step; ++i)
        softmaxLine(values.data() + begin + i, size, step);
    return values;
  });
}

// The mean, unless the input is not centred, then the mean square of what is left.
void normalizeRow(double *row, int64_t size, bool isCentered, double epsilon) {
  double mean = 0, square = 0;
  for (int64_t i = 0; i < size && isCentered; ++i)
    mean += row[i];
  mean /= double(size);
  for (int64_t i = 0; i < size; ++i) {
    row[i] -= mean;
    square += row[i] * row[i];
  }
  double deviation = std::sqrt(square / double(size) + epsilon);
  for (int64_t i = 0; i < size; ++i)
    row[i] /= deviation;
}

Status layerNorm(const TensorCall &call) {
  const Shape &shape = call.inputs[0].shape;
  int64_t axis = parameter<int64_t>(call, "axis", -1);
  if (axis < 0 || axis >= int64_t(shape.size()))
    return Failure{"its axis is " + std::to_string(axis)};
  int64_t size = countFrom(shape, size_t(axis));
  for (const TensorView &parameters : call.inputs.subspan(1))
    if (int64_t(countOf(parameters.shape)) != size)
      return Failure{"scale and bias have the shape of the normalised dimensions"};
  bool isCentered = parameter<int64_t>(call, "centered", 1) != 0;
  double epsilon = parameter<double>(call, "epsilon", 0);
  return finish(call, shape, [&] {
    std::vector<double> values = load<double>(call.inputs[0]), scale(size_t(size), 1), bias(size_t(size), 0);
    if (call.inputs.size() > 1)
      scale = load<double>(call.inputs[1]);
    if (call.inputs.size() > 2)
      bias = load<double>(call.inputs[2]);
    for (size_t row = 0; row < values.size(); row += size_t(size)) {
      normalizeRow(values.data() + row, size, isCentered, epsilon);
      for (size_t i = 0; i < size_t(size); ++i)
        values[row + i] = values[row + i] * scale[i] + bias[i];
    }
    return values;
  });
}

// Inputs: the tensor, then scale, bias, mean and variance of each channel, which is dimension 1.
Status batchNorm(const TensorCall &call) {
  const Shape &shape = call.inputs[0].shape;
  if (parameter<std::string>(call, "layout", "NCHW") != "NCHW")
    return Failure{"takes tensors with channels first"};
  if (shape.size() < 2)
    return Failure{"takes a tensor with channels"};
  for (const TensorView &parameters : call.inputs.subspan(1))
    if (parameters.shape != Shape{shape[1]})
      return Failure{"scale, bias, mean and variance have one element per channel"};
  double epsilon = parameter<double>(call, "epsilon", 0);
  return finish(call, shape, [&] {
    std::vector<double> values = load<double>(call.inputs[0]), parts[4];
    for (size_t i = 0; i < 4; ++i)
      parts[i] = load<double>(call.inputs[i + 1]);
    auto pixels = size_t(countFrom(shape, 2));
    for (size_t i = 0; i < values.size(); ++i) {
      size_t channel = i / pixels % size_t(shape[1]);
      double deviation = std::sqrt(parts[3][channel] + epsilon);
      values[i] = (values[i] - parts[2][channel]) / deviation * parts[0][channel] + parts[1][channel];
    }
    return values;
  });
}

} // namespace

bool hasNormalization(std::string_view name, size_t inputs, ElementType type) {
  return classOf(type) == NumberClass::Float &&
         ((name == "softmax" && inputs == 1) || (name == "layer_norm" && inputs >= 1 && inputs <= 3) ||
          (name == "batch_norm" && inputs == 5));
}

std::optional<Status> runNormalization(const TensorCall &call) {
  if (!hasNormalization(call.name, call.inputs.size(), call.inputs[0].type))
    return std::nullopt;
  return call.name == "softmax" ? softmax(call) : call.name == "layer_norm" ? layerNorm(call) : batchNorm(call);
}

} // namespace pto_mlir::hostops
