// Views of tensors in the C++ of an orchestrator.
#include "OrchestrationText.h"

#include "Types.h"

#include "llvm/Support/MathExtras.h"

namespace pto_mlir::pypto_frontend {

namespace ir = pypto::ir;

OrchestrationText::Named OrchestrationText::slice(const ir::OpView &call, const ir::Call &op) {
  Named view = tensorOf(call.Operand("x"));
  if (!call.Elements("valid_shape").empty() || call.Keyword<bool>("clamp").value_or(false) ||
      !call.Elements("drop_dims").empty())
    fail(op.span_, "valid_shape, clamp and drop_dims of a view have no form in the C++ of an orchestrator");
  Shape shape = extents(call.Elements("shape")), offsets = extents(call.Elements("offset"));
  if (shape.size() != view.shape.size() || offsets.size() != shape.size())
    fail(op.span_, "a view of " + std::to_string(view.shape.size()) + " axes needs as many extents and offsets");
  bool isWhole = true, isKnown = true; // of all axes behind the one at hand
  bool isInside = true;                // in every run
  for (size_t axis = shape.size(); axis-- > 0;) {
    auto extent = knownExtent(shape[axis]), whole = knownExtent(view.shape[axis]), begin = knownExtent(offsets[axis]);
    if (!isWhole && extent != 1)
      view.dense = std::min(view.dense, isKnown && extent ? Dense::No : Dense::AtRunTime);
    bool isAll = shape[axis] == view.shape[axis];
    isWhole &= isAll;
    isKnown &= isAll || (extent && whole);
    isInside &= (isAll && begin == 0) || (extent && whole && begin);
    if (extent && whole && begin && (*begin < 0 || *extent < 1 || *extent > *whole - *begin))
      fail(op.span_, "the view takes " + shape[axis] + " from " + offsets[axis] + " on, but axis " +
                         std::to_string(axis) + " has " + view.shape[axis]);
  }
  std::string from = view.name;
  view.name = fresh(target ? target->name_hint_ : "view");
  view.shape = shape;
  settle(view);
  api->array(view.name + "_shapes", shape);
  api->array(view.name + "_offsets", offsets);
  std::string window = view.name + "_shapes, " + view.name + "_offsets";
  if (!isInside)
    expect(from + ".holds(" + window + ")", op.span_, "the view is empty, or reaches out of its tensor");
  now.out.EmitLine("Tensor " + view.name + " = " + from + ".view(" + window + ");");
  return view;
}

OrchestrationText::Named OrchestrationText::reshape(const ir::OpView &call, const ir::Call &op) {
  Named view = tensorOf(call.Operand(call.row()->Find("x") >= 0 ? "x" : "tensor"));
  Shape shape = extents(call.Elements("shape"));
  if (shape.empty())
    return view;
  auto count = [](const Shape &extents) -> std::optional<int64_t> {
    int64_t product = 1;
    for (const std::string &text : extents) {
      auto extent = knownExtent(text);
      if (!extent)
        return std::nullopt;
      product = *extent > 0 && !llvm::MulOverflow(product, *extent, product) ? product : -1;
    }
    return product;
  };
  auto elements = count(shape), held = count(view.shape);
  constexpr const char *rule = "a reshape keeps the elements of a dense tensor";
  if (view.dense == Dense::No || (elements && held && *elements != *held))
    fail(op.span_, rule);
  std::string from = view.name;
  view.name = fresh(target ? target->name_hint_ : "view");
  view.shape = shape;
  settle(view);
  api->array(view.name + "_shapes", shape);
  if (view.dense == Dense::AtRunTime)
    expect(from + ".isDense()", op.span_, rule);
  view.dense = Dense::Yes;
  now.out.EmitLine("Tensor " + view.name + " = " + from + ".reshape(" + view.name + "_shapes, " +
                   std::to_string(shape.size()) + ");");
  if (!elements || !held)
    expect(view.name + ".numel() == " + from + ".numel()", op.span_, rule);
  return view;
}

} // namespace pto_mlir::pypto_frontend
