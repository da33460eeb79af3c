//===- MatchContraction.cpp - what a cube kernel computes -----------------===//
//
// Walks from the returned value back to the arguments: epilogue, contraction,
// init, padding.
//
//===----------------------------------------------------------------------===//

#include "Contraction.h"

#include "../Reshapes.h"
#include "StridedView.h"
#include "pto_mlir/Kernels/GroupedConv.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace pto_mlir::cube {

namespace {

bool isZero(Value value) { return matchPattern(value, m_AnyZeroFloat()) || matchPattern(value, m_Zero()); }

class Matcher {
public:
  explicit Matcher(func::FuncOp func) : func(func) {}

  FailureOr<Contraction> run() {
    auto ret = dyn_cast<func::ReturnOp>(func.getBody().front().getTerminator());
    if (!ret || ret.getNumOperands() != 1)
      return func.emitOpError("is a cube kernel with one result, got ") << (ret ? ret.getNumOperands() : 0);
    auto outType = dyn_cast<RankedTensorType>(ret.getOperand(0).getType());
    if (!outType || !outType.hasStaticShape())
      return func.emitOpError("expects a static tensor as result");
    c.out.element = outType.getElementType();
    c.out.arg = func.getNumArguments() - 1;

    auto root = matchEpilogue(ret.getOperand(0));
    if (failed(root) || failed(matchRoot(*root)) || failed(checkTypes(*root)))
      return failure();
    return c;
  }

private:
  /// Peels the epilogue; returns the contraction.
  FailureOr<Operation *> matchEpilogue(Value value) {
    SmallVector<linalg::GenericOp> steps; // the last one first
    while (true) {
      for (; isView(value.getDefiningOp()); value = value.getDefiningOp()->getOperand(0))
        outViews.push_back(value.getDefiningOp());
      Operation *op = value.getDefiningOp();
      if (!op)
        return func.emitOpError("returns an argument, not a contraction");
      auto generic = dyn_cast<linalg::GenericOp>(op);
      if (generic && !matchGroupedConv(op) && generic.getNumDpsInputs() > 0) {
        steps.push_back(generic);
        value = generic.getInputs()[0];
        continue;
      }
      for (linalg::GenericOp step : llvm::reverse(steps))
        if (Operation *reject = nullptr; !c.epilogue.take(step, &reject))
          return reject->emitOpError("cannot run in a cube kernel's epilogue, which has max(x, 0) and a cast, or a "
                                     "requantisation, once each and elementwise");
      return op;
    }
  }

  LogicalResult matchRoot(Operation *op) {
    auto dst = dyn_cast<linalg::LinalgOp>(op);
    if (!dst || dst.getNumDpsInits() != 1 || dst.getNumDpsInputs() != 2)
      return op->emitOpError("is no contraction that a cube kernel can build");
    for (Value operand : op->getOperands()) {
      auto type = dyn_cast<RankedTensorType>(operand.getType());
      if (!type || !type.hasStaticShape())
        return op->emitOpError("expects static tensors");
    }
    Value a = dst.getDpsInputs()[0], b = dst.getDpsInputs()[1];
    c.accumulator = getElementTypeOrSelf(dst.getDpsInits()[0]);
    c.problem.inBytes = bytesOf(a);
    c.problem.outBytes = c.out.element.getIntOrFloatBitWidth() / 8;
    c.left.element = getElementTypeOrSelf(a);
    c.right.element = getElementTypeOrSelf(b);

    LogicalResult result = failure();
    if (isa<linalg::MatmulOp, linalg::MatmulTransposeBOp, linalg::BatchMatmulOp, linalg::BatchMatmulTransposeBOp>(op))
      result = matchMatmul(op, a, b);
    else if (isa<linalg::Conv2DNhwcHwcfOp>(op) || matchGroupedConv(op))
      result = matchConvolution(op, a, b);
    else
      return op->emitOpError("is no contraction that a cube kernel can build");
    if (failed(result))
      return failure();
    return success(succeeded(matchInit(op, dst.getDpsInits()[0])) && succeeded(matchScales(op)));
  }

  LogicalResult matchMatmul(Operation *op, Value a, Value b) {
    bool transposed = isa<linalg::MatmulTransposeBOp, linalg::BatchMatmulTransposeBOp>(op);
    ArrayRef<int64_t> left = cast<RankedTensorType>(a.getType()).getShape();
    ArrayRef<int64_t> right = cast<RankedTensorType>(b.getType()).getShape();
    int64_t batch = left.size() == 3 ? left[0] : 1;
    int64_t m = left[left.size() - 2], k = left.back();
    int64_t n = transposed ? right[right.size() - 2] : right.back();
    setSizes(batch, m, n, k);
    c.right.transposed = transposed;
    return success(succeeded(setOperand(op, c.left, a)) && succeeded(setOperand(op, c.right, b)) &&
                   succeeded(setResult(op)));
  }

  /// An operand of a matrix product: blocks of an argument, wherever they lie.
  LogicalResult setOperand(Operation *op, Matrix &matrix, Value value) {
    SmallVector<Operation *> views;
    for (; isView(value.getDefiningOp()); value = value.getDefiningOp()->getOperand(0))
      views.push_back(value.getDefiningOp());
    if (failed(setArgument(op, matrix, value)))
      return failure();
    auto type = cast<RankedTensorType>(value.getType());
    std::optional<StridedView> view = contiguous(type.getShape());
    for (Operation *step : llvm::reverse(views))
      view = view ? viewOfResult(step, *view) : view;
    return setBlocks(op, matrix, view, type.getNumElements());
  }

  LogicalResult setResult(Operation *op) {
    auto type = cast<RankedTensorType>(func.getArgumentTypes().back());
    std::optional<StridedView> view = contiguous(type.getShape());
    for (Operation *step : outViews)
      view = view ? viewOfSource(step, *view) : view;
    return setBlocks(op, c.out, view, type.getNumElements());
  }

  LogicalResult setBlocks(Operation *op, Matrix &matrix, const std::optional<StridedView> &view, int64_t elements) {
    std::optional<BlockMatrix> blocks = view ? asBlocks(*view, elements) : std::nullopt;
    if (!blocks)
      return op->emitOpError("has an operand whose rows are scattered in memory");
    setMatrix(matrix, elements / blocks->pitch, blocks->pitch, blocks->outerRows, blocks->outerCols);
    matrix.inner = blocks->inner;
    matrix.innerRows = blocks->innerRows;
    matrix.innerCols = blocks->innerCols;
    matrix.firstRow = blocks->firstRow;
    matrix.firstCol = blocks->firstCol;
    return success();
  }

  /// What is read off a convolution before its operands are laid out.
  struct Convolution {
    ConvImage image;
    FilterShape filter;
    Value input; // the image without its padding
    bool grouped;
  };

  LogicalResult matchConvolution(Operation *op, Value a, Value b) {
    for (Operation *view : outViews)
      if (isMovingView(view))
        return view->emitOpError("cannot follow a convolution in its kernel");
    Convolution conv;
    if (failed(readConvolution(op, a, b, conv)) || failed(checkImage(op, conv.image)))
      return failure();
    layOutConvolution(conv);
    return success(succeeded(setArgument(op, c.left, conv.input)) &&
                   succeeded(setArgument(op, c.right, throughReshapes(b))));
  }

  LogicalResult readConvolution(Operation *op, Value a, Value b, Convolution &conv) {
    std::optional<GroupedConv> groupedConv = matchGroupedConv(op);
    conv.grouped = groupedConv.has_value();
    ArrayRef<int64_t> in = cast<RankedTensorType>(a.getType()).getShape();
    conv.input = throughReshapes(a);
    if (auto pad = conv.input.getDefiningOp<tensor::PadOp>()) {
      if (failed(matchPad(pad, conv.image)))
        return failure();
      conv.input = throughReshapes(pad.getSource());
    }
    auto numbers = [&](StringRef name) {
      auto attr = op->getAttrOfType<DenseIntElementsAttr>(name);
      return attr ? llvm::to_vector(attr.getValues<int64_t>()) : SmallVector<int64_t>{1, 1};
    };
    SmallVector<int64_t> strides = numbers("strides"), dilations = numbers("dilations");
    if (conv.grouped) {
      strides.assign(groupedConv->strides.begin(), groupedConv->strides.end());
      dilations.assign(groupedConv->dilations.begin(), groupedConv->dilations.end());
    }
    ArrayRef<int64_t> sizes = cast<RankedTensorType>(b.getType()).getShape();
    ArrayRef<int64_t> out = cast<RankedTensorType>(op->getResult(0).getType()).getShape();
    FilterShape &filter = conv.filter;
    filter.groups = conv.grouped ? in[3] : 1;
    filter.channels = in.back();
    filter.features = conv.grouped ? sizes[1] : sizes[3];
    filter.kernelH = conv.grouped ? sizes[2] : sizes[0];
    filter.kernelW = conv.grouped ? sizes[3] : sizes[1];
    c.filterLayout = conv.grouped ? FilterLayout::GFHWC : FilterLayout::HWCF;
    conv.image.batch = in[0];
    conv.image.channels = filter.channels;
    setAxis(conv.image.h, in[1], out[1], filter.kernelH, strides[0], dilations[0]);
    setAxis(conv.image.w, in[2], out[2], filter.kernelW, strides[1], dilations[1]);
    return success();
  }

  static LogicalResult checkImage(Operation *op, const ConvImage &image) {
    if (image.h.in < 1 || image.w.in < 1)
      return op->emitOpError("has an empty image");
    // Widths of timg2col's fields (ISA/Cube.td).
    for (const ConvAxis *axis : {&image.h, &image.w})
      if (std::max({axis->kernel, axis->stride, axis->dilation, axis->padBegin, axis->padEnd}) > 255)
        return op->emitOpError("has a kernel, stride, dilation or padding "
                               "beyond 255, which img2col cannot express");
    return success();
  }

  /// Decides how the left operand is made and what the matrices are.
  void layOutConvolution(const Convolution &conv) {
    const ConvImage &image = conv.image;
    const FilterShape &filter = conv.filter;
    unsigned bytes = c.problem.inBytes;
    bool pointwise = isPointwise(image.h) && isPointwise(image.w);
    int64_t pixels = image.batch * image.h.out * image.w.out, rows = packedRows(filter, bytes);
    bool patches = !pointwise && !conv.grouped && separate(image.h) && separate(image.w) &&
                   (image.batch == 1 || image.h.in == image.h.out * image.h.stride);
    bool plain = pointwise || patches;
    int64_t depth = filter.kernelH * filter.kernelW * filter.channels;
    setSizes(filter.groups, pixels, filter.features, plain ? depth : rows);
    if (patches)
      setPatches(image);
    else if (!pointwise)
      c.problem.image = image;
    // Grouped filters are also transposed, so they are packed in any case.
    bool pack = plain && !conv.grouped ? false : !packingIsIdentity(filter, c.filterLayout, bytes);
    if (pack)
      c.packFilter = filter;
    int64_t filterRows = pack || !plain ? rows : depth;
    setMatrix(c.left, image.batch * image.h.in * image.w.in, filter.groups * filter.channels, 0, filter.channels);
    setMatrix(c.right, filter.groups * filterRows, filter.features, filterRows, 0);
    setMatrix(c.out, pixels, filter.groups * filter.features, 0, filter.features);
  }

  static bool isPointwise(const ConvAxis &axis) {
    return axis.kernel == 1 && axis.stride == 1 && axis.padBegin == 0 && axis.padEnd == 0;
  }

  /// Windows that do not overlap and lie in the image.
  static bool separate(const ConvAxis &axis) {
    return axis.kernel <= axis.stride && axis.dilation == 1 && axis.padBegin == 0 && axis.padEnd == 0;
  }

  void setPatches(const ConvImage &image) {
    ConvPatches patches;
    patches.width = image.w.out;
    patches.strips = image.h.kernel;
    patches.strip = image.w.kernel * image.channels;
    patches.pitch = image.w.stride * image.channels;
    patches.stripPitch = image.w.in * image.channels;
    patches.rowPitch = image.h.stride * patches.stripPitch;
    c.problem.patches = patches;
  }

  /// `in` counts padding, which the pad op before has set.
  static void setAxis(ConvAxis &axis, int64_t in, int64_t out, int64_t kernel, int64_t stride, int64_t dilation) {
    axis.in = in - axis.padBegin - axis.padEnd;
    axis.out = out;
    axis.kernel = kernel;
    axis.stride = stride;
    axis.dilation = dilation;
  }

  LogicalResult matchPad(tensor::PadOp pad, ConvImage &image) {
    Value value = pad.getConstantPaddingValue();
    if (!value || !isZero(value))
      return pad.emitOpError("before a convolution pads with 0 only");
    ArrayRef<int64_t> low = pad.getStaticLow(), high = pad.getStaticHigh();
    for (size_t i = 0; i < low.size(); ++i) {
      bool spatial = i == 1 || i == 2;
      if (ShapedType::isDynamic(low[i]) || ShapedType::isDynamic(high[i]) || low[i] < 0 || high[i] < 0 ||
          (!spatial && (low[i] || high[i])))
        return pad.emitOpError("before a convolution pads height and width by constants");
    }
    image.h.padBegin = low[1], image.h.padEnd = high[1];
    image.w.padBegin = low[2], image.w.padEnd = high[2];
    return success();
  }

  /// The bias has a number for each column of the last dimension (of the last two of a grouped convolution).
  LogicalResult matchInit(Operation *root, Value init) {
    if (failed(c.epilogue.takeInit(root, init)))
      return failure();
    Value vector = c.epilogue.bias;
    if (!vector)
      return success();
    auto type = cast<RankedTensorType>(vector.getType());
    setRow(c.bias.emplace(), type.getElementType());
    if (type.getNumElements() != c.bias->cols)
      return root->emitOpError("expects a bias of ") << c.bias->cols << " elements, got " << type.getNumElements();
    if (c.bias->element != c.accumulator)
      return root->emitOpError("expects a bias of ") << c.accumulator << ", got " << c.bias->element;
    c.problem.bias = true;
    return setArgument(root, *c.bias, throughReshapes(vector));
  }

  LogicalResult matchScales(Operation *root) {
    if (!c.epilogue.scales)
      return success();
    setRow(c.scales.emplace(), IntegerType::get(func.getContext(), 64));
    if (cast<RankedTensorType>(c.epilogue.scales.getType()).getNumElements() != c.scales->cols)
      return root->emitOpError("expects a scale for each of ") << c.scales->cols << " columns";
    c.problem.columnScales = true;
    return setArgument(root, *c.scales, throughReshapes(c.epilogue.scales));
  }

  /// One number per column of all outer indices.
  void setRow(Matrix &row, Type element) {
    int64_t perOuter = c.filterLayout == FilterLayout::GFHWC ? c.problem.n : 0;
    row.element = element;
    setMatrix(row, 1, perOuter ? c.problem.outer * c.problem.n : c.problem.n, 0, perOuter);
  }

  LogicalResult checkTypes(Operation *root) {
    Type in = c.left.element, acc = c.accumulator, out = c.out.element;
    bool floats =
        (in.isF32() || in.isF16() || in.isBF16()) && acc.isF32() && (out.isF32() || out.isF16() || out.isBF16());
    bool ints = in.isInteger(8) && acc.isInteger(32) && (out.isInteger(32) || c.epilogue.requantises());
    if (in != c.right.element || (!floats && !ints))
      return root->emitOpError("has operand types that the cube lacks: ")
             << in << " x " << c.right.element << " -> " << acc << " -> " << out
             << " (f32, f16 and bf16 accumulate in f32, i8 in i32)";
    return success();
  }

  void setSizes(int64_t outer, int64_t m, int64_t n, int64_t k) {
    c.problem.outer = outer;
    c.problem.m = m;
    c.problem.n = n;
    c.problem.k = k;
  }

  static void setMatrix(Matrix &matrix, int64_t rows, int64_t cols, int64_t outerRows, int64_t outerCols) {
    matrix.rows = rows;
    matrix.cols = cols;
    matrix.outerRows = outerRows;
    matrix.outerCols = outerCols;
  }

  LogicalResult setArgument(Operation *op, Matrix &matrix, Value value) {
    auto arg = dyn_cast<BlockArgument>(value);
    if (!arg || arg.getOwner() != &func.getBody().front())
      return op->emitOpError("of a cube kernel reads kernel arguments only");
    matrix.arg = arg.getArgNumber();
    return success();
  }

  static unsigned bytesOf(Value value) { return std::max(1u, getElementTypeOrSelf(value).getIntOrFloatBitWidth() / 8); }

  func::FuncOp func;
  Contraction c;
  /// From the returned value inwards.
  SmallVector<Operation *> outViews;
};

} // namespace

FailureOr<Contraction> matchContraction(func::FuncOp func) { return Matcher(func).run(); }

Type argumentElement(func::FuncOp func, const Contraction &contraction, unsigned number) {
  bool descriptors = contraction.scales && contraction.scales->arg == number;
  return descriptors ? contraction.scales->element : getElementTypeOrSelf(func.getArgumentTypes()[number]);
}

} // namespace pto_mlir::cube
