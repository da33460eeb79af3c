// One ONNX node while it is imported: what an importer function sees.
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
  /// The input's elements when they are known now.
  std::optional<top::Weight> constant(unsigned i);
  /// The same where nothing works without them: what only a run knows may become known in versions of the graph. The
  /// node has to fail then.
  std::optional<top::Weight> needConstant(unsigned i);
  /// The same as integers; an error that names `what` when they are not known.
  std::optional<llvm::SmallVector<int64_t>> ints(unsigned i, llvm::StringRef what);

  //===-- Attributes. Asking marks them as known; others are an error at the end. --===//
  int64_t intAttr(llvm::StringRef name, int64_t otherwise);
  double floatAttr(llvm::StringRef name, double otherwise);
  std::string stringAttr(llvm::StringRef name, llvm::StringRef otherwise);
  std::optional<llvm::SmallVector<int64_t>> intsAttr(llvm::StringRef name);
  const ::onnx::AttributeProto *attr(llvm::StringRef name);
  bool checkAttributesUsed();
  /// The subgraph in an attribute; null, reported, when there is none.
  const ::onnx::GraphProto *graphAttr(llvm::StringRef name);
  /// Problems reported so far; `takeBack` forgets those of this node since then.
  size_t numReports() const;
  void takeBack(size_t count);
  /// Importer::importSubgraph. Its problems are this node's.
  std::optional<llvm::SmallVector<mlir::Value>> importGraph(const ::onnx::GraphProto &graph,
                                                            llvm::ArrayRef<mlir::Value> arguments);

  /// Importer's notes on what is known at run time only.
  void setCount(mlir::Value value, int64_t count);
  void setShapes(llvm::ArrayRef<mlir::Value> values, std::vector<std::vector<std::vector<int64_t>>> choices);
  void noteShapes(mlir::Operation *op);
  void forget(mlir::Operation *op);
  int64_t maxExtent() const;
  bool hasNeed() const;

  //===-- Results --===//
  unsigned numOutputs() const { return proto.output_size(); }
  /// Whether there is an output that anything reads: exporters name a Dropout's mask and never use it.
  bool wantsOutput(unsigned i) const;
  llvm::StringRef outputName(unsigned i = 0) const {
    return wantsOutput(i) ? llvm::StringRef(proto.output(i)) : llvm::StringRef();
  }
  void set(unsigned i, mlir::Value value);
  void set(unsigned i, top::Weight weight);

  /// Builds an op with inferred result type under a tensor name ("" = none). Small constants and integers are computed
  /// at once. Null after an error, which is reported.
  template <typename OpTy>
  mlir::Value create(llvm::StringRef name, mlir::ValueRange operands,
                     llvm::ArrayRef<mlir::NamedAttribute> attributes = {}) {
    return create(OpTy::getOperationName(), name, operands, attributes);
  }
  /// Builds the op that gives output 0.
  template <typename OpTy>
  mlir::LogicalResult result(mlir::ValueRange operands, llvm::ArrayRef<mlir::NamedAttribute> attributes = {}) {
    return finish(create(OpTy::getOperationName(), outputName(), operands, attributes));
  }
  mlir::LogicalResult finish(mlir::Value value);
  mlir::Value create(llvm::StringRef op, llvm::StringRef name, mlir::ValueRange operands,
                     llvm::ArrayRef<mlir::NamedAttribute> attributes);

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

  /// Reports the node with a reason; always failure.
  mlir::LogicalResult error(const llvm::Twine &reason);
  bool hasErrors() const { return errors; }

  /// `axis` counted from the front; nullopt, reported, when it is outside [-rank, rank).
  std::optional<int64_t> axis(int64_t axis, int64_t rank);
  /// The same for a list: ascending, each once.
  std::optional<llvm::SmallVector<int64_t>> axes(llvm::ArrayRef<int64_t> list, int64_t rank);

private:
  mlir::Value ofNothing(llvm::StringRef op, llvm::StringRef name, mlir::ValueRange operands,
                        llvm::ArrayRef<mlir::NamedAttribute> attributes);

  Importer &importer;
  const ::onnx::NodeProto &proto;
  int64_t version;
  bool errors = false;
  llvm::StringSet<> used;
};

/// Imports one node: sets its outputs or reports.
using ImportFn = mlir::LogicalResult (*)(Node &);

} // namespace pto_mlir::onnx

#endif // PTO_MLIR_LIB_FRONTEND_ONNX_NODE_H
