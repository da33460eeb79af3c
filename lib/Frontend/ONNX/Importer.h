// The graph: from the file's nodes to one function of top ops.
#ifndef PTO_MLIR_LIB_FRONTEND_ONNX_IMPORTER_H
#define PTO_MLIR_LIB_FRONTEND_ONNX_IMPORTER_H

#include "ModelFile.h"
#include "mlir/IR/Builders.h"
#include "pto_mlir/Dialect/Top/IR/WeightStore.h"
#include "pto_mlir/Frontend/ONNX/Import.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"

namespace pto_mlir::onnx {

/// Versions of one model altogether: each is compiled.
inline constexpr unsigned kMaxVersions = 512;

class Importer {
public:
  Importer(llvm::StringRef path, ModelFile &file, const ImportOptions &options, mlir::MLIRContext &context,
           std::vector<std::string> &errors)
      : builder(&context), file(file), path(path), options(options), errors(errors) {}

  /// Null when anything was reported.
  mlir::OwningOpRef<mlir::ModuleOp> run();

  //===-- For Node --===//
  mlir::OpBuilder builder;
  ModelFile &file;
  /// The value of a tensor name; a constant is made when first asked for.
  mlir::Value value(llvm::StringRef name);
  mlir::RankedTensorType type(llvm::StringRef name);
  std::optional<top::Weight> constant(llvm::StringRef name);
  void define(llvm::StringRef name, mlir::Value value);
  void define(llvm::StringRef name, top::Weight weight);
  /// Whether a node or the model's result reads the tensor.
  bool isRead(llvm::StringRef name) const { return read.contains(name); }
  /// Notes a tensor that no op computes any more.
  void absorb(llvm::StringRef name) { absorbed.insert(name); }
  void reportNode(const ::onnx::NodeProto &node, int64_t opset, const llvm::Twine &reason);
  /// Problems reported so far, and taking back those since then.
  size_t numReports() const { return errors.size(); }
  void takeBack(size_t count) { errors.resize(count); }
  //===-- What is known at run time only: Control/Versions.cpp --===//
  using Shape = std::vector<int64_t>;
  /// Shapes of several tensors together.
  using Shapes = std::vector<Shape>;
  /// Tensors with `?`, and the shapes that they may have together.
  struct ShapeSet {
    llvm::SmallVector<mlir::Value> values;
    std::vector<Shapes> choices;
  };
  /// What is known in one of several versions of a graph, and the version.
  struct Version {
    llvm::SmallVector<int64_t> elements; ///< of an integer tensor, or
    Shapes shapes;                       ///< of the tensors of a set
    mlir::Block *block = nullptr;
  };
  /// Notes that a node needs the elements of integer tensor `name`, or its extents. The node has to fail; if versions
  /// of the graph are possible, its problems are forgotten.
  void need(llvm::StringRef name) { unknown = name.str(); }
  bool hasNeed() const { return !unknown.empty(); }
  /// Notes how many values, from 0, an integer of one element may have; 0 = nobody shall make versions for them.
  void setCount(mlir::Value value, int64_t count) { counts[value] = count; }
  void setShapes(llvm::ArrayRef<mlir::Value> values, std::vector<Shapes> choices);
  /// All shapes that values may have together; nullopt when they are not known.
  std::optional<std::vector<Shapes>> shapesOf(mlir::ValueRange values);
  /// setShapes of the results of control flow.
  void noteShapes(mlir::Operation *op);
  /// Before `op` is erased.
  void forget(mlir::Operation *op);
  /// The largest number that becomes an extent when it runs.
  int64_t maxExtent() const { return options.maxExtent; }
  /// Whether values may be empty: where a size is one of several.
  bool mayBeEmpty() const { return depth > 0; }
  static top::Weight emptyWeight(mlir::RankedTensorType type) { return {type, {}, nullptr}; }

  /// Imports a subgraph where the builder stands; its inputs are `arguments`. It sees the names around it; its own are
  /// forgotten at its end. The values of its outputs, or nullopt, reported.
  std::optional<llvm::SmallVector<mlir::Value>> importSubgraph(const ::onnx::GraphProto &graph,
                                                               llvm::ArrayRef<mlir::Value> arguments);

private:
  struct Tensor {
    mlir::Value value;
    std::optional<top::Weight> weight;
  };

  void report(const llvm::Twine &reason) { errors.push_back((path + ": " + reason).str()); }
  bool checkModel();
  bool importInitializers();
  bool importInitializer(const ::onnx::TensorProto &tensor, llvm::StringRef raw, bool isMapped);
  /// Types of the inputs that are no initializers.
  bool inputTypes(llvm::SmallVectorImpl<mlir::Type> &types);
  std::optional<llvm::SmallVector<int64_t>> inputShape(const ::onnx::ValueInfoProto &input, size_t index);
  void setInputShapes(llvm::ArrayRef<mlir::Value> values);
  /// Names of the function's results and the nodes that they need, in the file's order.
  bool selectNodes();
  /// A graph or subgraph: nodes in order, and the names that are defined in it.
  struct Graph {
    llvm::SmallVector<const ::onnx::NodeProto *> nodes;
    llvm::StringSet<> own;
  };
  /// Imports nodes of a graph in order; where one needs what is known at run time only, it and the rest in versions.
  /// `wanted`: names that are read afterwards. False after errors, or (with `unknown`) when a graph around it has to be
  /// imported in versions.
  bool importNodes(const Graph &graph, llvm::ArrayRef<const ::onnx::NodeProto *> list,
                   llvm::ArrayRef<std::string> wanted);
  bool tryNode(const ::onnx::NodeProto &node);
  std::string rootOf(const Graph &graph, std::string name);
  bool mayChoose(llvm::StringRef name);
  class VersionImport;
  bool importVersions(const Graph &graph, llvm::ArrayRef<const ::onnx::NodeProto *> list, const std::string &root,
                      llvm::ArrayRef<std::string> wanted);
  std::optional<llvm::SmallVector<mlir::Value>>
  chooseVersion(mlir::Value decider, const ShapeSet *set, llvm::ArrayRef<Version> versions, const std::string &message);
  static bool isStatic(mlir::Type type) { return mlir::cast<mlir::RankedTensorType>(type).hasStaticShape(); }
  /// Imports a node whose inputs are known.
  void importNode(const ::onnx::NodeProto &node);
  /// Version of a node's operator set; nullopt when the model does not say.
  std::optional<int64_t> opsetOf(const ::onnx::NodeProto &node) const;
  void finishFunction(mlir::Operation *function, llvm::ArrayRef<mlir::Type> inputTypes);

  std::string path;
  const ImportOptions &options;
  std::vector<std::string> &errors;

  llvm::StringMap<int64_t> opsets;
  llvm::StringMap<Tensor> tensors;
  /// Results of nodes that could not be imported: their users are not reported again.
  llvm::StringSet<> poisoned;
  llvm::StringSet<> read;
  llvm::SetVector<llvm::StringRef> absorbed;
  std::vector<const ::onnx::ValueInfoProto *> inputs;
  std::vector<const ::onnx::NodeProto *> nodes;
  std::vector<std::string> outputs;
  mlir::Block *entry = nullptr; ///< of the function
  unsigned depth = 0;           ///< subgraphs and versions around the builder
  std::string unknown;          ///< what the last node needed
  unsigned numVersions = 0;
  llvm::DenseMap<mlir::Value, std::shared_ptr<ShapeSet>> shapeSets;
  llvm::DenseMap<mlir::Value, int64_t> counts;
  llvm::SmallVector<std::unique_ptr<mlir::Block>> dropped; ///< versions that cannot be
};

/// Names that a node reads: its inputs, and what its subgraphs take from around them.
void readNames(const ::onnx::NodeProto &node, llvm::StringSet<> &names);

} // namespace pto_mlir::onnx

#endif // PTO_MLIR_LIB_FRONTEND_ONNX_IMPORTER_H
