// Convolutions and pooling over any number of spatial dimensions, channels first.
#include "Wide.h"

#include "pto_mlir/Support/WindowSize.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace pto_mlir::hostops {

namespace {

using Shape = std::vector<int64_t>;

// What the outputs read along one dimension: sources[y * kernel + k] is the element under tap k of output y, -1
// outside. `counted[y]` is the number of taps inside the input and its pads.
struct Dimension {
  int64_t in = 0, out = 0, kernel = 0, stride = 1, dilation = 1, begin = 0, end = 0;
  Shape sources, counted;

  void note() {
    counted.assign(size_t(out), 0);
    for (int64_t y = 0; y < out; ++y)
      for (int64_t k = 0; k < kernel; ++k) {
        int64_t at = y * stride + k * dilation - begin;
        sources.push_back(at >= 0 && at < in ? at : -1);
        counted[size_t(y)] += at < in + end;
      }
  }
  // Of a transposed convolution: input i under tap k adds to the output i * stride + k * dilation - begin.
  void noteTransposed() {
    for (int64_t y = 0; y < out; ++y)
      for (int64_t k = 0; k < kernel; ++k) {
        int64_t reach = y + begin - k * dilation, at = reach / stride;
        sources.push_back(reach >= 0 && reach % stride == 0 && at < in ? at : -1);
      }
  }
};

struct Tap {
  int64_t source, tap; ///< offsets in the input's and the kernel's spatial dimensions
};

class Window {
public:
  static Result<Window> read(const TensorCall &call, const Shape &kernel, bool isTransposed = false) {
    const Shape &in = call.inputs[0].shape;
    auto list = [&](std::string_view name) { return parameter<Shape>(call, name, {}); };
    Shape strides = list("strides"), dilations = list("dilations"), pads = list("pads"), extra = list("output_padding");
    size_t rank = kernel.size();
    extra.resize(isTransposed ? extra.size() : rank, 0);
    if (parameter<std::string>(call, "layout", "NCHW") != "NCHW")
      return Failure{"takes tensors with channels first"};
    if (in.size() != rank + 2 || rank == 0 || strides.size() != rank || dilations.size() != rank ||
        pads.size() != 2 * rank || extra.size() != rank)
      return Failure{"a window takes a size, stride and dilation and two pads per spatial dimension"};
    bool ceil = parameter<int64_t>(call, "ceil_mode", 0) != 0;
    Window window;
    for (size_t d = 0; d < rank; ++d) {
      Dimension of{in[d + 2], 0, kernel[d], strides[d], dilations[d], pads[d], pads[rank + d], {}, {}};
      if (of.in < 1 || of.kernel < 1 || of.stride < 1 || of.dilation < 1 || of.begin < 0 || of.end < 0 || extra[d] < 0)
        return Failure{"a size, stride or dilation of a window is not positive, or a pad is negative"};
      auto out = isTransposed
                     ? transposedOutputSize(of.in, of.kernel, of.stride, of.dilation, of.begin, of.end, extra[d])
                     : windowOutputSize(of.in, of.kernel, of.stride, of.dilation, of.begin, of.end, ceil);
      if (!out || *out > int64_t(kMostElements) || of.kernel > int64_t(kMostElements) / std::max<int64_t>(*out, 1))
        return Failure{"a window does not fit spatial dimension " + std::to_string(d)};
      of.out = *out;
      isTransposed ? of.noteTransposed() : of.note();
      window.dimensions.push_back(std::move(of));
    }
    return window;
  }

  /// Batch, channels and the spatial sizes of the output.
  Shape outputShape(int64_t batch, int64_t channels) const {
    Shape shape{batch, channels};
    for (const Dimension &of : dimensions)
      shape.push_back(of.out);
    return shape;
  }

  /// Calls visit(position, taps inside the input in row-major order, number of taps inside input and pads) for each
  /// output.
  template <class Visit> void forEachOutput(Visit visit) const {
    Shape outs, kernels, ins, index;
    for (const Dimension &of : dimensions) {
      outs.push_back(of.out);
      kernels.push_back(of.kernel);
      ins.push_back(of.in);
    }
    Shape outStrides = stridesOf(outs), kernelStrides = stridesOf(kernels), inStrides = stridesOf(ins);
    std::vector<Tap> taps, wider;
    index.resize(outs.size());
    forEachOffset(outs, outStrides, 0, [&](int64_t position) {
      int64_t counted = 1;
      taps.assign(1, {0, 0});
      for (size_t d = 0; d < outs.size(); ++d) {
        const Dimension &of = dimensions[d];
        int64_t y = position / outStrides[d] % outs[d];
        counted *= of.counted.empty() ? 1 : of.counted[size_t(y)];
        wider.clear();
        wider.reserve(taps.size() * size_t(of.kernel));
        for (const Tap &tap : taps)
          for (int64_t k = 0; k < of.kernel; ++k)
            if (int64_t at = of.sources[size_t(y * of.kernel + k)]; at >= 0)
              wider.push_back({tap.source + at * inStrides[d], tap.tap + k * kernelStrides[d]});
        taps.swap(wider);
      }
      visit(position, taps, counted);
    });
  }

private:
  std::vector<Dimension> dimensions;
};

int64_t spatialCount(const Shape &shape) {
  return std::accumulate(shape.begin() + 2, shape.end(), int64_t(1), std::multiplies<>());
}

// The bias, then channel by channel, within a channel tap by tap.
template <class V> Status runConv(const TensorCall &call, bool isTransposed) {
  const Shape &in = call.inputs[0].shape, &filter = call.inputs[1].shape;
  if (in.size() < 3 || filter.size() != in.size())
    return Failure{"input and filter of a convolution have one rank, at least 3"};
  auto window = Window::read(call, {filter.begin() + 2, filter.end()}, isTransposed);
  if (!window)
    return window.failure();
  // Channels per group: of the input, of the output.
  int64_t group = parameter<int64_t>(call, "group", 1), taken = filter[isTransposed ? 0 : 1];
  if (group < 1 || in[1] % group || (isTransposed ? taken != in[1] : taken * group != in[1] || filter[0] % group))
    return Failure{"the channels of a convolution do not fit its groups"};
  int64_t from = in[1] / group, to = isTransposed ? filter[1] : filter[0] / group;
  Shape shape = window->outputShape(in[0], to * group);
  if (call.inputs.size() == 3 && call.inputs[2].shape != Shape{to * group})
    return Failure{"the bias of a convolution does not fit"};
  return finish(call, shape, [&] {
    std::vector<V> x = load<V>(call.inputs[0]), w = load<V>(call.inputs[1]), bias, result(countOf(shape));
    if (call.inputs.size() == 3)
      bias = load<V>(call.inputs[2]);
    int64_t inSize = spatialCount(in), outSize = spatialCount(shape), kernelSize = spatialCount(filter);
    window->forEachOutput([&](int64_t position, const std::vector<Tap> &taps, int64_t) {
      for (int64_t n = 0; n < in[0]; ++n)
        for (int64_t o = 0; o < to * group; ++o) {
          int64_t g = o / to;
          V all = bias.empty() ? V(0) : bias[size_t(o)];
          for (int64_t c = 0; c < from; ++c) {
            const V *pixels = x.data() + (n * in[1] + g * from + c) * inSize;
            int64_t row = isTransposed ? (g * from + c) * to + o % to : o * from + c;
            for (const Tap &tap : taps)
              all = sum(all, product(pixels[tap.source], w[size_t(row * kernelSize + tap.tap)]));
          }
          result[size_t((n * to * group + o) * outSize + position)] = all;
        }
    });
    return result;
  });
}

template <class V> V pooled(const V *pixels, const std::vector<Tap> &taps, bool isMax) {
  // Of padding alone: minus infinity, or 0 for integers, which have none.
  V all = !taps.empty() && isMax                 ? pixels[taps.front().source]
          : isMax && std::is_floating_point_v<V> ? V(-HUGE_VAL)
                                                 : V(0);
  for (const Tap &tap : taps) {
    V value = pixels[tap.source];
    if (!isMax)
      all = sum(all, value);
    else if (all == all && !(all > value))
      all = value;
  }
  return all;
}

template <class V> Status runPool(const TensorCall &call) {
  const Shape &in = call.inputs[0].shape;
  bool isMax = call.name == "max_pool", countPad = parameter<int64_t>(call, "count_include_pad", 0) != 0;
  auto window = Window::read(call, parameter<Shape>(call, "kernel", {}));
  if (!window)
    return window.failure();
  Shape shape = window->outputShape(in[0], in[1]);
  return finish(call, shape, [&] {
    std::vector<V> x = load<V>(call.inputs[0]), result(countOf(shape));
    int64_t inSize = spatialCount(in), outSize = spatialCount(shape);
    window->forEachOutput([&](int64_t position, const std::vector<Tap> &taps, int64_t counted) {
      int64_t divisor = std::max<int64_t>(countPad ? counted : int64_t(taps.size()), 1);
      for (int64_t plane = 0; plane < in[0] * in[1]; ++plane) {
        V all = pooled(x.data() + plane * inSize, taps, isMax);
        result[size_t(plane * outSize + position)] = isMax ? all : V(all / V(divisor));
      }
    });
    return result;
  });
}

bool isConv(std::string_view name) { return name == "conv" || name == "conv_transpose"; }

} // namespace

bool hasWindow(std::string_view name, size_t inputs, ElementType type) {
  if (type == ElementType::Boolean)
    return false;
  return isConv(name) ? inputs == 2 || inputs == 3 : inputs == 1 && (name == "max_pool" || name == "avg_pool");
}

std::optional<Status> runWindow(const TensorCall &call) {
  if (!hasWindow(call.name, call.inputs.size(), call.inputs[0].type))
    return std::nullopt;
  return withClass(classOf(call.inputs[0].type), [&](auto number) -> Status {
    using V = decltype(number);
    return isConv(call.name) ? runConv<V>(call, call.name == "conv_transpose") : runPool<V>(call);
  });
}

} // namespace pto_mlir::hostops
