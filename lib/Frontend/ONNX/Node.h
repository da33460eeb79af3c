// One ONNX node during import: the interface of importer functions.
#ifndef PTO_MLIR_LIB_FRONTEND_ONNX_NODE_H
#define PTO_MLIR_LIB_FRONTEND_ONNX_NODE_H

#include "ModelFile.h"
#include "mlir/IR/Builders.h"
#include "onnx-ml.pb.h"
#include "pto_mlir/Dialect/Top/IR/Constants.h"
#include "pto_mlir/Dialect/Top/IR/Top.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/Twine.h"

namespace pto_mlir::onnx {

class Importer;

class Node {
public:
  Node(Importer &importer, const ::onnx::NodeProto &proto, int64_t opset)
      : importer(importer), proto(proto), version(opset) {}

  /// The operator, without its domain.
  llvm::StringRef op() const { return proto.op_type(); }
  /// Version of the node's operator set.
  int64_t opset() const { return version; }
  mlir::OpBuilder &builder();
  /// The model's file, for tensors in attributes.
  ModelFile &file();

  //===-- Inputs. The registry has checked that the required ones exist. --===//
  unsigned numInputs() const { return proto.input_size(); }
  bool has(unsigned i) const { return i < numInputs() && !proto.input(i).empty(); }
  mlir::Value input(unsigned i);
  mlir::RankedTensorType type(unsigned i);
  /// The input's elements if it is a constant.
  std::optional<top::Weight> constant(unsigned i);
  /// The same for a required constant. If the input is dynamic, requests versions of the graph, and the node must fail.
  std::optional<top::Weight> needConstant(unsigned i);
  /// The same as integers; reports an error that names `what` if it is not a constant.
  std::optional<llvm::SmallVector<int64_t>> ints(unsigned i, llvm::StringRef what);

  //===-- Attributes. Reading one marks it as used; unused ones are an error (checkAttributesUsed). --===//
  int64_t intAttr(llvm::StringRef name, int64_t otherwise);
  double floatAttr(llvm::StringRef name, double otherwise);
  std::string stringAttr(llvm::StringRef name, llvm::StringRef otherwise);
  std::optional<llvm::SmallVector<int64_t>> intsAttr(llvm::StringRef name);
  const ::onnx::AttributeProto *attr(llvm::StringRef name);
  bool checkAttributesUsed();
  /// The subgraph in an attribute; reports an error and returns null when absent.
  const ::onnx::GraphProto *graphAttr(llvm::StringRef name);
  /// Number of errors reported so far; `takeBack` removes those of this node since then.
  size_t numReports() const;
  void takeBack(size_t count);
  /// Importer::importSubgraph; its errors count as this node's.
  std::optional<llvm::SmallVector<mlir::Value>> importGraph(const ::onnx::GraphProto &graph,
                                                            llvm::ArrayRef<mlir::Value> arguments);

  /// Forwarded to the importer's records of dynamic sizes.
  void setCount(mlir::Value value, int64_t count);
  void setShapes(llvm::ArrayRef<mlir::Value> values, std::vector<std::vector<std::vector<int64_t>>> choices);
  void setExtents(llvm::ArrayRef<mlir::Value> values, int64_t least, int64_t most, bool areFew = true);
  void noteShapes(mlir::Operation *op);
  void forget(mlir::Operation *op);
  int64_t maxExtent() const;
  bool hasNeed() const;

  /// A number that no other node of the model gets.
  int64_t drawNumber();

  //===-- State that grows by rows (Importer) --===//
  /// Whether input `i` is a state to which this node appends rows.
  bool appendsToState(unsigned i) const;
  /// The state of input `i` with `rows` written behind its present ones along `axis`; null after an error.
  mlir::Value appendToState(llvm::StringRef name, unsigned i, mlir::Value rows, int64_t axis);
  /// The number of rows in `value` for each of `batch` batches, if it is a state that grew along `axis`; else null.
  mlir::Value grownLength(mlir::Value value, int64_t axis, int64_t batch);
  /// `value` with minus infinity behind its rows, if it grew along `axis`.
  mlir::Value hideGrownRows(mlir::Value value, int64_t axis);
  /// Notes that the node writes `rows` rows of a state at a place that it computes.
  mlir::LogicalResult countStateRows(int64_t rows);

  //===-- Results --===//
  unsigned numOutputs() const { return proto.output_size(); }
  /// Whether output `i` exists and is read. Exporters name unused outputs, such as a Dropout's mask.
  bool wantsOutput(unsigned i) const;
  llvm::StringRef outputName(unsigned i = 0) const {
    return wantsOutput(i) ? llvm::StringRef(proto.output(i)) : llvm::StringRef();
  }
  void set(unsigned i, mlir::Value value);
  void set(unsigned i, top::Weight weight);
  /// Sets an output to a tensor without elements.
  void setEmpty(unsigned i, llvm::ArrayRef<int64_t> shape, mlir::Type element);
  /// Sets an output to the strings of a tensor.
  mlir::LogicalResult setStrings(unsigned i, const ::onnx::TensorProto &tensor);
  /// A constant of strings, for an operand.
  mlir::Value strings(llvm::ArrayRef<std::string> values);

  /// Builds an op with inferred result type and a tensor name ("" = none). Folds ops on small or integer constants.
  /// Reports errors and then returns null.
  template <typename OpTy>
  mlir::Value create(llvm::StringRef name, mlir::ValueRange operands,
                     llvm::ArrayRef<mlir::NamedAttribute> attributes = {}) {
    return create(OpTy::getOperationName(), name, operands, attributes);
  }
  /// Builds the op that computes output 0.
  template <typename OpTy>
  mlir::LogicalResult result(mlir::ValueRange operands, llvm::ArrayRef<mlir::NamedAttribute> attributes = {}) {
    return finish(create(OpTy::getOperationName(), outputName(), operands, attributes));
  }
  mlir::LogicalResult finish(mlir::Value value);
  mlir::Value create(llvm::StringRef op, llvm::StringRef name, mlir::ValueRange operands,
                     llvm::ArrayRef<mlir::NamedAttribute> attributes);
  /// A constant whose elements are all `value`; null after an error.
  mlir::Value filled(llvm::StringRef name, mlir::RankedTensorType type, double value);
  /// Whether a constant of this shape may be built of numbers: up to 2^26, not gigabytes, which only a mistake asks
  /// for. Else the error has been reported.
  bool mayBuild(llvm::ArrayRef<int64_t> shape);

  /// Builds an operation of the host (top.host) with the result type; `reason`: why no engine computes it.
  mlir::Value host(llvm::StringRef name, llvm::StringRef kernel, mlir::ValueRange operands, mlir::RankedTensorType type,
                   llvm::StringRef reason, llvm::ArrayRef<mlir::NamedAttribute> parameters = {});
  /// Builds one of two operands that broadcast and have one element type, as the node's output 0.
  mlir::LogicalResult hostBinary(llvm::StringRef kernel, llvm::StringRef reason);

  /// While it lives, what the node builds is marked with top::kWideAttr.
  class Wide {
  public:
    explicit Wide(Node &node) : node(node) { node.isWide = true; }
    ~Wide() { node.isWide = false; }
    Wide(const Wide &) = delete;
    Wide &operator=(const Wide &) = delete;

  private:
    Node &node;
  };

  mlir::NamedAttribute named(llvm::StringRef name, mlir::Attribute value) {
    return builder().getNamedAttr(name, value);
  }
  mlir::NamedAttribute i64s(llvm::StringRef name, llvm::ArrayRef<int64_t> values) {
    return named(name, builder().getDenseI64ArrayAttr(values));
  }
  mlir::NamedAttribute i64(llvm::StringRef name, int64_t value) {
    return named(name, builder().getI64IntegerAttr(value));
  }
  mlir::NamedAttribute f64(llvm::StringRef name, double value) { return named(name, builder().getF64FloatAttr(value)); }
  mlir::NamedAttribute flag(llvm::StringRef name, bool value) { return named(name, builder().getBoolAttr(value)); }
  mlir::Value reshape(llvm::StringRef name, mlir::Value value, llvm::ArrayRef<int64_t> shape);

  /// Reports an error at this node; returns failure.
  mlir::LogicalResult error(const llvm::Twine &reason);
  bool hasErrors() const { return errors; }

  /// `axis` normalised to [0, rank); reports an error and returns nullopt when it is outside [-rank, rank).
  std::optional<int64_t> axis(int64_t axis, int64_t rank);
  /// The same for a list; sorted ascending, duplicates are an error.
  std::optional<llvm::SmallVector<int64_t>> axes(llvm::ArrayRef<int64_t> list, int64_t rank);

private:
  /// The types of an op's results and its attributes, defaults among them.
  struct Inferred {
    llvm::SmallVector<mlir::Type> types;
    mlir::NamedAttrList attributes;
  };
  /// Nullopt after an error, also of a tensor that is too large.
  std::optional<Inferred> infer(llvm::StringRef op, mlir::ValueRange operands,
                                llvm::ArrayRef<mlir::NamedAttribute> attributes);
  /// Nullopt where the op is no convolution of nothing; null after an error.
  std::optional<mlir::Value> convOfZeros(llvm::StringRef op, llvm::StringRef name, mlir::ValueRange operands,
                                         llvm::ArrayRef<mlir::NamedAttribute> attributes);
  mlir::Value ofNothing(llvm::StringRef op, llvm::StringRef name, mlir::ValueRange operands,
                        llvm::ArrayRef<mlir::NamedAttribute> attributes);

  Importer &importer;
  const ::onnx::NodeProto &proto;
  int64_t version;
  bool errors = false;
  bool isWide = false;
  llvm::StringSet<> used;
};

/// Imports one node: sets its outputs or reports errors.
using ImportFn = mlir::LogicalResult (*)(Node &);

} // namespace pto_mlir::onnx

#endif // PTO_MLIR_LIB_FRONTEND_ONNX_NODE_H
