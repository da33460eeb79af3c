// Tensors that an orchestrator makes, and views of tensors.
#include "Orchestrator.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

namespace pto_mlir::pypto_frontend {

namespace ir = pypto::ir;

bool View::isKnown() const {
  auto known = [](const Number &number) { return number.isKnown(); };
  return llvm::all_of(shape, known) && llvm::all_of(strides, known);
}

bool View::isRowMajor() const {
  int64_t dense = 1;
  for (size_t axis = shape.size(); axis-- > 0; dense *= shape[axis].known)
    if (shape[axis].known != 1 && strides[axis].known != dense)
      return false;
  return true;
}

Held Orchestrator::create(const ir::OpView &call, const ir::Call &op) {
  if (auto initial = call.Keyword("init_value"); initial && !std::holds_alternative<std::monostate>(*initial))
    fail(op.span_, "init_value is not lowered yet; store the value with a kernel");
  if (auto layout = call.Enum<ir::TensorLayout>("layout"); layout && *layout != ir::TensorLayout::ND)
    fail(op.span_, "tensors of layout " + std::string(ir::ValueName(*layout)) + " are not lowered yet");
  auto dtype = call.Keyword<pypto::DataType>("dtype");
  CHECK(dtype) << "a tensor needs an element type";
  return makeTensor(numbersOf(call.Elements("shape")), *dtype, op.span_);
}

View Orchestrator::makeTensor(std::vector<Number> shape, pypto::DataType dtype, const ir::Span &span) {
  View view{unsigned(buffers.size()), 0, {}, std::move(shape), {}, dtype};
  view.strides.resize(view.shape.size());
  Number count = 1;
  for (size_t axis = view.shape.size(); axis-- > 0;) {
    view.strides[axis] = count;
    int64_t known = 0;
    if (view.shape[axis].isKnown() &&
        (view.shape[axis].known <= 0 ||
         (count.isKnown() && llvm::MulOverflow(count.known, view.shape[axis].known, known)) ||
         known > int64_t(1) << 40))
      fail(span, "a tensor of this shape cannot be made");
    count = computed(ir::NodeKind::Mul, count, view.shape[axis]);
  }
  if (host) {
    buffers.push_back({"tensor" + std::to_string(buffers.size()), view.shape, dtype, {}});
    buffers.back().memory = host->reserve(emitted(count), dtype);
    return view;
  }
  int64_t elements = count.known;
  constexpr int64_t alignment = 512;
  int64_t bytes = llvm::divideCeil(uint64_t(elements) * uint64_t(dtype.GetBit()), 8);
  buffers.push_back({"tensor" + std::to_string(buffers.size()), view.shape, dtype, {}, workspace});
  workspace = int64_t(llvm::alignTo(uint64_t(workspace + bytes), alignment));
  if (workspace > int64_t(1) << 40)
    fail(span, "the program makes tensors of more than 1 TiB");
  return view;
}

Number Orchestrator::elementsOf(const std::vector<Number> &shape) {
  Number product = 1;
  for (const Number &extent : shape)
    product = computed(ir::NodeKind::Mul, product, extent);
  return product;
}

std::vector<Number> Orchestrator::denseStrides(const std::vector<Number> &shape) {
  std::vector<Number> strides(shape.size(), 1);
  for (size_t axis = shape.size(); axis-- > 1;)
    strides[axis - 1] = computed(ir::NodeKind::Mul, strides[axis], shape[axis]);
  return strides;
}

bool Orchestrator::isWhole(const View &view) {
  bool isDense = view.isKnown() ? view.isRowMajor() : view.strides == denseStrides(view.shape);
  return view.shape == buffers[view.buffer].shape && isDense && view.offset == 0 && !view.moving;
}

Held Orchestrator::slice(const ir::OpView &call, const ir::Call &op) {
  View view = viewOf(call.Operand("x"));
  std::vector<Number> shape = numbersOf(call.Elements("shape")), offset = numbersOf(call.Elements("offset"));
  if (call.Keyword<bool>("clamp").value_or(false))
    fail(op.span_, "clamp of a view is not lowered yet; give valid_shape to pl.load");
  view.isCut |= !call.Elements("valid_shape").empty();
  if (shape.size() != view.shape.size() || offset.size() != shape.size())
    fail(op.span_, "a view of " + std::to_string(view.shape.size()) + " axes needs as many extents and offsets");
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    const Number &whole = view.shape[axis], &part = shape[axis], &begin = offset[axis];
    bool isKnown = whole.isKnown() && part.isKnown() && begin.isKnown();
    if (isKnown &&
        (part.known < 1 || begin.known < 0 || part.known > whole.known || begin.known > whole.known - part.known))
      fail(op.span_, "the view is not inside its tensor: " + std::to_string(begin.known) + " + " +
                         std::to_string(part.known) + " of " + std::to_string(whole.known));
    if (!isKnown) {
      host->check(ir::NodeKind::Ge, emitted(begin), host->constant(int64_t(0)), "a view begins before its tensor");
      // The last rows of a tensor may be fewer than a kernel asks for: it gets those, and what it reads is checked.
      bool isLast = axis == 0 && part.isKnown() && isWhole(view);
      view.mayEnd |= isLast;
      host->check(isLast ? ir::NodeKind::Lt : ir::NodeKind::Le,
                  emitted(isLast ? begin : computed(ir::NodeKind::Add, begin, part)), emitted(whole),
                  "a view ends behind its tensor");
    }
    Number moved = computed(ir::NodeKind::Mul, begin, view.strides[axis]);
    if (moved.isKnown())
      view.offset += moved.known;
    else
      view.moving = emitted(computed(ir::NodeKind::Add, view.moving ? Number(view.moving) : Number(), moved));
  }
  view.shape = std::move(shape);
  std::vector<int64_t> dropped = integersOf(call.Elements("drop_dims"));
  for (size_t i = dropped.size(); i-- > 0;) {
    if (dropped[i] < 0 || size_t(dropped[i]) >= view.shape.size())
      fail(op.span_, "the view has no axis " + std::to_string(dropped[i]) + " to drop");
    view.shape.erase(view.shape.begin() + dropped[i]);
    view.strides.erase(view.strides.begin() + dropped[i]);
  }
  return view;
}

Held Orchestrator::reshape(const ir::OpView &call, const ir::Call &op) {
  View view = viewOf(call.Operand(call.row()->Find("x") >= 0 ? "x" : "tensor"));
  if (call.row()->Find("layout") >= 0)
    if (auto layout = call.Enum<ir::TensorLayout>("layout"); layout && *layout != ir::TensorLayout::ND)
      fail(op.span_, "views of layout " + std::string(ir::ValueName(*layout)) + " are not lowered yet");
  if (call.row()->Find("valid_shape") >= 0 && !call.Elements("valid_shape").empty())
    fail(op.span_, "valid_shape of a view is not lowered yet; give it to pl.load");
  std::vector<Number> shape = numbersOf(call.Elements("shape"));
  if (shape.empty())
    return view;
  auto isKnown = [](const Number &number) { return number.isKnown(); };
  if (!view.isKnown() || !llvm::all_of(shape, isKnown)) {
    if (view.strides != denseStrides(view.shape))
      fail(op.span_, "a reshape of a view by extents known at run time is not lowered yet; reshape the whole tensor");
    host->check(ir::NodeKind::Eq, emitted(elementsOf(shape)), emitted(elementsOf(view.shape)),
                "a reshape keeps the number of elements");
    view.strides = denseStrides(shape);
    view.shape = std::move(shape);
    return view;
  }
  auto count = [](const std::vector<Number> &extents) {
    int64_t product = 1;
    for (const Number &extent : extents)
      product = extent.known > 0 && !llvm::MulOverflow(product, extent.known, product) ? product : -1;
    return product;
  };
  if (count(shape) != count(view.shape))
    fail(op.span_, "a reshape keeps the number of elements");
  if (!view.isRowMajor())
    fail(op.span_, "a reshape of a view that is not row-major would copy; copy it with a kernel");
  view.strides.assign(shape.size(), 1);
  for (size_t axis = shape.size(); axis-- > 1;)
    view.strides[axis - 1] = view.strides[axis].known * shape[axis].known;
  view.shape = std::move(shape);
  return view;
}

Held Orchestrator::transpose(const ir::OpView &call, const ir::Call &op) {
  View view = viewOf(call.Operand("x"));
  int64_t rank = int64_t(view.shape.size()), axes[2];
  const char *names[2] = {"axis1", "axis2"};
  for (int i = 0; i < 2; ++i) {
    axes[i] = integerOf(call.Operand(names[i]));
    axes[i] += axes[i] < 0 ? rank : 0;
    if (axes[i] < 0 || axes[i] >= rank)
      fail(op.span_, "the tensor has no such axis");
  }
  std::swap(view.shape[axes[0]], view.shape[axes[1]]);
  std::swap(view.strides[axes[0]], view.strides[axes[1]]);
  return view;
}

} // namespace pto_mlir::pypto_frontend
