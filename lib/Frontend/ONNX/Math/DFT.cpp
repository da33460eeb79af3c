// DFT and STFT: one product with a matrix of sines and cosines, from the elements of a signal (with its imaginary
// parts) to its frequencies.
#include "../Composite.h"
#include "../Registry.h"

#include <cmath>
#include <numbers>

using namespace mlir;

namespace pto_mlir::onnx {
namespace {

/// Limit on the length: the matrix has four numbers for each pair.
constexpr int64_t kMostLength = 4096;

struct Transform {
  int64_t length = 0; ///< of the whole signal
  int64_t given = 0;  ///< elements that the input has of it (its spectrum); others are 0
  int64_t parts = 1;  ///< 1: real input, 2: complex
  bool inverse = false, onesided = false;

  bool isReal() const { return inverse && onesided; } ///< the inverse of the spectrum of a real signal
  int64_t results() const { return onesided && !inverse ? length / 2 + 1 : length; }
  int64_t resultParts() const { return isReal() ? 1 : 2; }
  /// How often element k of the input occurs in the whole one: one side of a spectrum stands for both.
  double weight(int64_t k) const {
    double copies = isReal() && k != 0 && 2 * k != length ? 2 : 1;
    return inverse ? copies / double(length) : copies;
  }
};

/// [given * parts, results * resultParts].
Value matrix(Node &node, const Transform &t, Type element) {
  if (!node.mayBuild({t.given, t.parts, t.results(), t.resultParts()}))
    return {};
  std::vector<double> values;
  values.reserve(t.given * t.parts * t.results() * t.resultParts());
  for (int64_t k = 0; k < t.given; ++k)
    for (int64_t from = 0; from < t.parts; ++from)
      for (int64_t j = 0; j < t.results(); ++j)
        for (int64_t to = 0; to < t.resultParts(); ++to) {
          // e^(-+ i a) = cos a -+ i sin a, times i for an imaginary part.
          double angle = 2 * std::numbers::pi * double(k * j % t.length) / double(t.length);
          double sine = t.inverse ? std::sin(angle) : -std::sin(angle);
          values.push_back(t.weight(k) * (from == to ? std::cos(angle) : to == 1 ? sine : -sine));
        }
  OpBuilder &b = node.builder();
  auto type = RankedTensorType::get({t.given * t.parts, t.results() * t.resultParts()}, element);
  return top::createConstant(b, b.getUnknownLoc(), (node.outputName() + "_transform").str(), type,
                             top::fromDoubles(element, values));
}

/// The transform of `value` [.., given, parts] as [.., results, resultParts].
Value transformed(Node &node, Value value, const Transform &t, StringRef name) {
  if (!value)
    return value;
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> shape(type.getShape());
  int64_t rows = ShapedType::getNumElements(type.getShape().drop_back(2));
  value = node.reshape("", value, {rows, t.given * t.parts});
  value = node.create<top::MatMulOp>("", {value, matrix(node, t, type.getElementType())});
  shape.end()[-2] = t.results();
  shape.back() = t.resultParts();
  return value ? node.reshape(name, value, shape) : value;
}

/// The integer of one element in input `i`; nullopt after an error.
std::optional<int64_t> scalar(Node &node, unsigned i, StringRef what) {
  std::optional<SmallVector<int64_t>> list = node.ints(i, what);
  if (list && list->size() == 1)
    return list->front();
  if (list)
    (void)node.error(what + " is one integer");
  return std::nullopt;
}

bool checkLength(Node &node, int64_t length) {
  if (length >= 1 && length <= kMostLength)
    return true;
  (void)node.error("transforms 1 to " + Twine(kMostLength) + " elements, not " + Twine(length));
  return false;
}

LogicalResult importDFT(Node &node) {
  RankedTensorType type = node.type(0);
  int64_t rank = type.getRank();
  Transform t;
  t.inverse = node.intAttr("inverse", 0) != 0, t.onesided = node.intAttr("onesided", 0) != 0;
  std::optional<int64_t> where = node.opset() < 20 ? node.intAttr("axis", 1) : -2;
  if (node.opset() >= 20 && node.has(2))
    where = scalar(node, 2, "axis");
  std::optional<int64_t> axis = where ? node.axis(*where, rank) : std::nullopt;
  if (!axis)
    return failure();
  if (rank < 2 || *axis == rank - 1 || type.getShape().back() < 1 || type.getShape().back() > 2)
    return node.error("takes real or complex numbers in the last dimension (of 1 or 2), and another axis");
  int64_t size = type.getDimSize(*axis);
  t.parts = type.getShape().back(), t.length = t.isReal() ? 2 * (size - 1) : size;
  if (node.has(1)) {
    std::optional<int64_t> length = scalar(node, 1, "dft_length");
    if (!length)
      return failure();
    t.length = *length;
  }
  if (!checkLength(node, t.length))
    return failure();
  t.given = std::min(size, t.isReal() ? t.length / 2 + 1 : t.length);
  Value value = node.input(0);
  if (t.given < size) {
    SmallVector<int64_t> starts(rank, 0), ends(type.getShape()), steps(rank, 1);
    ends[*axis] = t.given;
    value = node.create<top::SliceOp>(
        "", value, {node.i64s("starts", starts), node.i64s("ends", ends), node.i64s("steps", steps)});
  }
  if (*axis == rank - 2)
    return node.finish(transformed(node, value, t, node.outputName()));
  SmallVector<int64_t> perm = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  std::swap(perm[*axis], perm[rank - 2]);
  value = value ? node.create<top::PermuteOp>("", value, {node.i64s("perm", perm)}) : value;
  value = transformed(node, value, t, "");
  return node.finish(value ? node.create<top::PermuteOp>(node.outputName(), value, {node.i64s("perm", perm)}) : value);
}

/// The frames of a signal [batch, length, parts] as [batch, frames, size, parts].
Value framed(Node &node, int64_t frames, int64_t size, int64_t step) {
  if (!node.mayBuild({frames, size}))
    return {};
  std::vector<int64_t> places;
  places.reserve(frames * size);
  for (int64_t frame = 0; frame < frames; ++frame)
    for (int64_t i = 0; i < size; ++i)
      places.push_back(frame * step + i);
  OpBuilder &b = node.builder();
  auto type = RankedTensorType::get({frames, size}, b.getI64Type());
  Value index = top::createConstant(b, b.getUnknownLoc(), (node.outputName() + "_frames").str(), type,
                                    top::fromInts(b.getI64Type(), places));
  return node.create<top::GatherOp>("", {node.input(0), index}, {node.i64("axis", 1)});
}

LogicalResult importSTFT(Node &node) {
  RankedTensorType type = node.type(0);
  Transform t;
  t.onesided = node.intAttr("onesided", 1) != 0;
  std::optional<int64_t> step = scalar(node, 1, "frame_step"), size;
  if (node.has(3))
    size = scalar(node, 3, "frame_length");
  else if (node.has(2) && node.type(2).getRank() == 1)
    size = node.type(2).getDimSize(0);
  else
    return node.error("has neither a window nor a frame_length");
  if (!step || !size || !checkLength(node, *size))
    return failure();
  if (type.getRank() < 2 || type.getRank() > 3 || (type.getRank() == 3 && type.getDimSize(2) > 2) || *step < 1)
    return node.error("takes a signal [batch, length, 1 or 2] and a positive frame_step");
  if (type.getDimSize(1) < *size)
    return node.error("has frames of " + Twine(*size) + " elements, the signal has " + Twine(type.getDimSize(1)));
  if (node.has(2) && node.type(2).getShape() != ArrayRef<int64_t>(*size))
    return node.error("has a window of another size than its frames");
  t.length = t.given = *size, t.parts = type.getRank() == 3 ? type.getDimSize(2) : 1;
  int64_t frames = (type.getDimSize(1) - *size) / *step + 1;
  Value value = framed(node, frames, *size, *step);
  value = value ? node.reshape("", value, {type.getDimSize(0), frames, *size, t.parts}) : value;
  if (node.has(2) && value)
    value = node.create<top::MulOp>("", {value, node.reshape("", node.input(2), {*size, 1})});
  return node.finish(transformed(node, value, t, node.outputName()));
}

} // namespace

void registerDFT(Registry &registry) {
  registry.add("DFT", {17, 19, 1, 2, importDFT});
  registry.add("DFT", {20, kMaxOpset, 1, 3, importDFT});
  registry.add("STFT", {17, kMaxOpset, 2, 4, importSTFT});
}

} // namespace pto_mlir::onnx
