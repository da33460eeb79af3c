#include "Names.h"

#include "pto_mlir/Support/Utf8.h"

namespace pto_mlir::onnx {

namespace {

/// Finds the first name that is not UTF-8.
class NameCheck {
public:
  std::optional<std::string> found;

  void visit(const ::onnx::GraphProto &graph) {
    check("graph", graph.name());
    for (const auto *values : {&graph.input(), &graph.output(), &graph.value_info()})
      for (const ::onnx::ValueInfoProto &value : *values)
        visit(value);
    for (const ::onnx::TensorProto &tensor : graph.initializer())
      check("tensor", tensor.name());
    for (const ::onnx::NodeProto &node : graph.node())
      visit(node);
  }

private:
  void check(const char *kind, const std::string &name) {
    if (!found && !isUtf8(name))
      found = std::string(kind) + " '" + escapeNonUtf8(name) + "'";
  }

  void visit(const ::onnx::ValueInfoProto &value) {
    check("tensor", value.name());
    for (const auto &dim : value.type().tensor_type().shape().dim())
      if (dim.has_dim_param())
        check("dimension", dim.dim_param());
  }

  void visit(const ::onnx::NodeProto &node) {
    check("node", node.name());
    check("operator", node.op_type());
    check("domain", node.domain());
    for (const auto *names : {&node.input(), &node.output()})
      for (const std::string &name : *names)
        check("tensor", name);
    for (const ::onnx::AttributeProto &attribute : node.attribute()) {
      check("attribute", attribute.name());
      if (attribute.has_g())
        visit(attribute.g());
      for (const ::onnx::GraphProto &graph : attribute.graphs())
        visit(graph);
    }
  }
};

} // namespace

std::optional<std::string> findNonUtf8Name(const ::onnx::GraphProto &graph) {
  NameCheck check;
  check.visit(graph);
  return check.found;
}

} // namespace pto_mlir::onnx
