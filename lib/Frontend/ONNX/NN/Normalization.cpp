// Normalisations decomposed into reductions and elementwise ops.
#include "../Composite.h"
#include "../Registry.h"

using namespace mlir;

namespace pto_mlir::onnx {

// (x - mean) / sqrt(variance + epsilon) over `axes`.
static Value standardize(Formula &f, Value x, ArrayRef<int64_t> axes, double epsilon) {
  Value centred = f.of<top::SubOp>(x, f.over<top::ReduceMeanOp>(x, axes));
  Value variance = f.over<top::ReduceMeanOp>(f.of<top::MulOp>(centred, centred), axes);
  return f.of<top::DivOp>(centred, f.of<top::SqrtOp>(f.of<top::AddOp>(variance, epsilon)));
}

// Statistics per image and channel.
static LogicalResult importInstanceNormalization(Node &node) {
  RankedTensorType type = node.type(0);
  int64_t rank = type.getRank();
  if (rank < 3)
    return node.error("takes an input of rank 3 and more, got rank " + Twine(rank));
  for (unsigned i : {1, 2})
    if (node.type(i).getShape() != ArrayRef<int64_t>{type.getDimSize(1)})
      return node.error("takes one " + Twine(i == 1 ? "scale" : "bias") + " per channel (" + Twine(type.getDimSize(1)) +
                        ")");
  SmallVector<int64_t> perChannel(rank, 1), axes = llvm::to_vector(llvm::seq<int64_t>(2, rank));
  perChannel[1] = type.getDimSize(1);
  Formula f(node);
  Value x = standardize(f, node.input(0), axes, node.floatAttr("epsilon", 1e-5f));
  Value scaled = f.of<top::MulOp>(x, node.reshape("", node.input(1), perChannel));
  return f.result<top::AddOp>(scaled, node.reshape("", node.input(2), perChannel));
}

// `divisor`, or 1 where it is 0, since the dividend is then 0 as well. An epsilon instead would underflow in f16.
static Value nonZero(Node &node, Formula &f, Value divisor) {
  if (!divisor)
    return divisor;
  Value zero = node.create<top::CompareOp>("", {divisor, f.constant(divisor, 0)},
                                           {node.named("mode", node.builder().getStringAttr("eq"))});
  return zero ? node.create<top::WhereOp>("", {zero, f.constant(divisor, 1), divisor}) : zero;
}

static LogicalResult importMeanVarianceNormalization(Node &node) {
  std::optional<SmallVector<int64_t>> axes =
      node.axes(node.intsAttr("axes").value_or(SmallVector<int64_t>{0, 2, 3}), node.type(0).getRank());
  if (!axes)
    return failure();
  Formula f(node);
  Node::Wide wide(node);
  Value x = f.wide(0), centred = f.of<top::SubOp>(x, f.over<top::ReduceMeanOp>(x, *axes));
  Value deviation = f.of<top::SqrtOp>(f.over<top::ReduceMeanOp>(f.of<top::MulOp>(centred, centred), *axes));
  return f.narrowed<top::DivOp>(centred, nonZero(node, f, f.of<top::AddOp>(deviation, 1e-9)));
}

// x / sum(|x|^p)^(1/p) along one axis; a slice of zeros stays zero.
static LogicalResult importLpNormalization(Node &node) {
  std::optional<int64_t> axis = node.axis(node.intAttr("axis", -1), node.type(0).getRank());
  int64_t p = node.intAttr("p", 2);
  if (!axis)
    return failure();
  if (p != 1 && p != 2)
    return node.error("attribute 'p' must be 1 or 2, not " + Twine(p));
  Formula f(node);
  Node::Wide wide(node);
  Value x = f.wide(0), sum;
  if (p == 1)
    sum = f.over<top::ReduceSumOp>(f.of<top::AbsOp>(x), *axis);
  else
    sum = f.of<top::SqrtOp>(f.over<top::ReduceSumOp>(f.of<top::MulOp>(x, x), *axis));
  return f.narrowed<top::DivOp>(x, nonZero(node, f, sum));
}

// x / (bias + alpha / size * the sum of squares of `size` neighbouring channels) ^ beta. The sum is computed as a
// product with a band matrix.
static LogicalResult importLRN(Node &node) {
  RankedTensorType type = node.type(0);
  int64_t rank = type.getRank(), size = node.intAttr("size", 0);
  double alpha = node.floatAttr("alpha", 1e-4f), beta = node.floatAttr("beta", 0.75), bias = node.floatAttr("bias", 1);
  if (rank < 2 || size < 1)
    return node.error("takes an input of rank 2 and more and a positive 'size'");
  constexpr int64_t kMostChannels = 8192; // of the matrix, whose elements are their square
  int64_t channels = type.getDimSize(1), before = (size - 1) / 2, after = size - 1 - before;
  if (channels > kMostChannels)
    return node.error("over " + Twine(channels) + " channels is not supported; " + Twine(kMostChannels) + " are");
  std::vector<double> band(channels * channels, 0.0);
  for (int64_t c = 0; c < channels; ++c)
    for (int64_t other = std::max<int64_t>(c - before, 0); other <= std::min(c + after, channels - 1); ++other)
      band[other * channels + c] = alpha / static_cast<double>(size);
  Formula f(node);
  Node::Wide wide(node);
  OpBuilder &b = node.builder();
  Value x = f.wide(0);
  if (!x)
    return failure();
  Type element = getElementTypeOrSelf(x.getType());
  Value matrix =
      top::createConstant(b, b.getUnknownLoc(), (node.outputName() + "_band").str(),
                          RankedTensorType::get({channels, channels}, element), top::fromDoubles(element, band));
  SmallVector<int64_t> last{0}, first{0, rank - 1};
  llvm::append_range(last, llvm::seq<int64_t>(2, rank));
  last.push_back(1);
  llvm::append_range(first, llvm::seq<int64_t>(1, rank - 1));
  Value squares = f.of<top::PermuteOp>(f.of<top::MulOp>(x, x), {node.i64s("perm", last)});
  Value sums = f.of<top::PermuteOp>(f.of<top::MatMulOp>(squares, matrix), {node.i64s("perm", first)});
  Value denominator = f.of<top::PowOp>(f.of<top::AddOp>(sums, bias), -beta);
  return f.narrowed<top::MulOp>(x, denominator);
}

void registerNormalization(Registry &registry) {
  registry.add("InstanceNormalization", {7, kMaxOpset, 3, 3, importInstanceNormalization});
  registry.add("MeanVarianceNormalization", {9, kMaxOpset, 1, 1, importMeanVarianceNormalization});
  registry.add("LpNormalization", {7, kMaxOpset, 1, 1, importLpNormalization});
  registry.add("LRN", {7, kMaxOpset, 1, 1, importLRN});
}

} // namespace pto_mlir::onnx
