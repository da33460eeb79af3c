// Operations whose work follows from values: det, roialign (images, regions, numbers of images), ngrams (numbers).
#include "Wide.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

namespace pto_mlir::hostops {

namespace {

using Shape = std::vector<int64_t>;

/// By elimination with the greatest element of each column; overwrites the matrix.
double determinant(double *matrix, size_t size) {
  double product = 1;
  for (size_t k = 0; k < size; ++k) {
    size_t pivot = k;
    for (size_t i = k + 1; i < size; ++i)
      if (std::fabs(matrix[i * size + k]) > std::fabs(matrix[pivot * size + k]))
        pivot = i;
    if (matrix[pivot * size + k] == 0)
      return 0;
    if (pivot != k) {
      std::swap_ranges(matrix + pivot * size, matrix + (pivot + 1) * size, matrix + k * size);
      product = -product;
    }
    double top = matrix[k * size + k];
    product *= top;
    for (size_t i = k + 1; i < size; ++i) {
      double factor = matrix[i * size + k] / top;
      for (size_t j = k; j < size && factor != 0; ++j)
        matrix[i * size + j] -= factor * matrix[k * size + j];
    }
  }
  return product;
}

Status det(const TensorCall &call) {
  Shape shape = call.inputs[0].shape;
  if (shape.size() < 2 || shape.back() != shape[shape.size() - 2])
    return Failure{"takes square matrices"};
  auto size = size_t(shape.back());
  shape.resize(shape.size() - 2);
  return finish(call, shape, [&] {
    std::vector<double> all = load<double>(call.inputs[0]), results(countOf(shape));
    for (size_t i = 0; i < results.size(); ++i)
      results[i] = determinant(all.data() + i * size * size, size);
    return results;
  });
}

//===-- roialign ----------------------------------------------------------===//

/// The most samples of a bin along one dimension: beyond, regions are no regions of an image.
constexpr double mostSamples = 1 << 12;

/// Two neighbours of a place along one dimension and the weight of the second; nothing outside of the image.
struct Neighbours {
  int64_t low = 0, high = 0;
  double t = 0;
  bool isInside = false;

  Neighbours(double place, int64_t size) {
    isInside = place >= -1 && place <= double(size);
    if (!isInside)
      return;
    place = std::clamp(place, 0.0, double(size - 1));
    low = int64_t(place);
    high = std::min(low + 1, size - 1);
    t = place - double(low);
  }
};

/// A region along one dimension: how many samples each of its bins has, and their places, those of all bins in turn.
struct Side {
  int64_t samples;
  std::vector<Neighbours> places;

  /// `given`: how many samples a bin has; 0: as many as pixels.
  Side(double from, double to, int64_t bins, int64_t size, bool isHalfPixel, int64_t given) {
    double bin = (isHalfPixel ? to - from : std::max(to - from, 1.0)) / double(bins);
    samples = given > 0 ? given : bin > 0 ? int64_t(std::min(std::ceil(bin), mostSamples)) : 0; // NaN: none
    for (int64_t number = 0; number < bins; ++number)
      for (int64_t sample = 0; sample < samples; ++sample)
        places.emplace_back(from + bin * (double(number) + (double(sample) + 0.5) / double(samples)), size);
  }
};

/// A bin of a plane whose rows have `width` pixels.
double bin(const double *plane, int64_t width, const Side &rows, const Side &columns, int64_t row, int64_t column,
           bool isMax) {
  double all = 0;
  bool isFirst = true;
  for (int64_t i = 0; i < rows.samples; ++i)
    for (int64_t j = 0; j < columns.samples; ++j) {
      const Neighbours &y = rows.places[size_t(row * rows.samples + i)],
                       &x = columns.places[size_t(column * columns.samples + j)];
      double terms[4] = {0, 0, 0, 0};
      if (y.isInside && x.isInside) {
        terms[0] = (1 - y.t) * (1 - x.t) * plane[y.low * width + x.low];
        terms[1] = (1 - y.t) * x.t * plane[y.low * width + x.high];
        terms[2] = y.t * (1 - x.t) * plane[y.high * width + x.low];
        terms[3] = y.t * x.t * plane[y.high * width + x.high];
      }
      double one =
          isMax ? std::max({terms[0], terms[1], terms[2], terms[3]}) : terms[0] + terms[1] + terms[2] + terms[3];
      all = !isMax ? all + one : isFirst ? one : std::max(all, one);
      isFirst = false;
    }
  int64_t count = rows.samples * columns.samples;
  return isMax || count == 0 ? all : all / double(count);
}

Status roiAlign(const TensorCall &call) {
  const Shape &shape = call.inputs[0].shape, &regions = call.inputs[1].shape;
  int64_t height = parameter<int64_t>(call, "height", 1), width = parameter<int64_t>(call, "width", 1);
  bool isMax = parameter<int64_t>(call, "max", 0) != 0;
  if (shape.size() != 4 || regions.size() != 2 || regions[1] != 4 || call.inputs[2].shape != Shape{regions[0]} ||
      height < 1 || width < 1)
    return Failure{"expects images [N, C, H, W], regions [R, 4] and the number of an image for each"};
  double scale = parameter<double>(call, "scale", 1);
  bool isHalfPixel = parameter<int64_t>(call, "half_pixel", 1) != 0;
  int64_t samples = parameter<int64_t>(call, "samples", 0);
  std::vector<int64_t> numbers = load<int64_t>(call.inputs[2]);
  for (int64_t number : numbers)
    if (number < 0 || number >= shape[0])
      return Failure{"a region is of image " + std::to_string(number) + " of " + std::to_string(shape[0])};
  Shape result{regions[0], shape[1], height, width};
  return finish(call, result, [&] {
    std::vector<double> pixels = load<double>(call.inputs[0]), edges = load<double>(call.inputs[1]), values;
    for (size_t r = 0; r < numbers.size(); ++r) {
      auto edge = [&](size_t i) { return edges[r * 4 + i] * scale - (isHalfPixel ? 0.5 : 0); };
      Side rows(edge(1), edge(3), height, shape[2], isHalfPixel, samples),
          columns(edge(0), edge(2), width, shape[3], isHalfPixel, samples);
      for (int64_t c = 0; c < shape[1]; ++c) {
        const double *plane = pixels.data() + (numbers[r] * shape[1] + c) * shape[2] * shape[3];
        for (int64_t i = 0; i < height; ++i)
          for (int64_t j = 0; j < width; ++j)
            values.push_back(bin(plane, shape[3], rows, columns, i, j, isMax));
      }
    }
    return values;
  });
}

//===-- ngrams ------------------------------------------------------------===//

using Pool = std::vector<int64_t>;

/// The n-grams of a pool, by their numbers, each with the column that counts it.
struct Dictionary {
  std::map<Pool, int64_t> columns;
  int64_t width = 0, least = 1, most = 1, skips = 0;

  /// n-grams of 1 number first, then of 2; `counts` says where those of each length begin.
  static Result<Dictionary> read(const TensorCall &call) {
    auto pool = parameter<Pool>(call, "pool", {}), counts = parameter<Pool>(call, "counts", {}),
         columns = parameter<Pool>(call, "columns", {});
    Dictionary made;
    made.width = parameter<int64_t>(call, "width", 0), made.least = parameter<int64_t>(call, "least", 1);
    made.most = parameter<int64_t>(call, "most", 1), made.skips = parameter<int64_t>(call, "skips", 0);
    size_t number = 0;
    for (size_t n = 0; n < counts.size(); ++n) {
      int64_t begin = counts[n], end = n + 1 < counts.size() ? counts[n + 1] : int64_t(pool.size());
      if (begin < 0 || end < begin || end > int64_t(pool.size()))
        return Failure{"the pool of n-grams is not ascending"};
      for (; begin + int64_t(n) < end; begin += int64_t(n) + 1, ++number) {
        if (number >= columns.size() || columns[number] < 0 || columns[number] >= made.width)
          return Failure{"an n-gram has no column"};
        auto length = int64_t(n) + 1;
        if (length >= made.least && length <= made.most)
          made.columns[Pool(pool.begin() + begin, pool.begin() + begin + length)] = columns[number];
      }
    }
    return made;
  }

  /// Adds the n-grams of a row whose numbers lie 1 to skips + 1 apart; those of one number count once.
  void count(const int64_t *row, int64_t size, int64_t *counted) const {
    for (int64_t step = 1, length = least; step <= skips + 1 && step <= size;
         ++step, length = std::max<int64_t>(length, 2))
      for (int64_t n = length; n <= most && (n - 1) * step < size; ++n)
        for (int64_t begin = 0; begin + (n - 1) * step < size; ++begin) {
          Pool gram;
          for (int64_t i = 0; i < n; ++i)
            gram.push_back(row[begin + i * step]);
          if (auto found = columns.find(gram); found != columns.end())
            ++counted[found->second];
        }
  }
};

/// Numbers [C] or [B, C] -> how often the row has each n-gram, [width] or [B, width].
Status ngrams(const TensorCall &call) {
  Shape shape = call.inputs[0].shape;
  auto read = Dictionary::read(call);
  if (!read)
    return read.failure();
  if (shape.empty() || shape.size() > 2)
    return Failure{"takes a list of numbers or several"};
  int64_t size = shape.back(), rows = shape.size() == 2 ? shape[0] : 1;
  shape.back() = read->width;
  return finish(call, shape, [&] {
    std::vector<int64_t> numbers = load<int64_t>(call.inputs[0]), counted(countOf(shape), 0);
    for (int64_t row = 0; row < rows; ++row)
      read->count(numbers.data() + row * size, size, counted.data() + row * read->width);
    return counted;
  });
}

} // namespace

bool hasSpecial(std::string_view name, size_t inputs) {
  return (name == "det" && inputs == 1) || (name == "roialign" && inputs == 3) || (name == "ngrams" && inputs == 1) ||
         (name == "resize" && (inputs == 2 || inputs == 3));
}

std::optional<Status> runSpecial(const TensorCall &call) {
  if (!hasSpecial(call.name, call.inputs.size()))
    return std::nullopt;
  if (call.name == "resize")
    return resize(call);
  return call.name == "det" ? det(call) : call.name == "ngrams" ? ngrams(call) : roiAlign(call);
}

} // namespace pto_mlir::hostops
