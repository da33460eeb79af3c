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
  /// Imports a subgraph where the builder stands; its inputs are `arguments`. It sees the names around it; its own are forgotten at its end.
  /// The values of its outputs, or nullopt, reported.
  std::optional<llvm::SmallVector<mlir::Value>> importSubgraph(const ::onnx::GraphProto &graph, llvm::ArrayRef<mlir::Value> arguments);

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
  /// Names of the function's results and the nodes that they need, in the file's order.
  bool selectNodes();
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
  unsigned depth = 0;           ///< subgraphs around the builder
};

} // namespace pto_mlir::onnx

#endif // PTO_MLIR_LIB_FRONTEND_ONNX_IMPORTER_H
