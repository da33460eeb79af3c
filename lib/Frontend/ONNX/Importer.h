// Imports a graph: from ONNX nodes to one function of top ops.
#ifndef PTO_MLIR_LIB_FRONTEND_ONNX_IMPORTER_H
#define PTO_MLIR_LIB_FRONTEND_ONNX_IMPORTER_H

#include "ModelFile.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "pto_mlir/Dialect/Top/IR/WeightStore.h"
#include "pto_mlir/Frontend/ONNX/Import.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"

namespace pto_mlir::onnx {

/// The default domain has two spellings: "" and "ai.onnx".
inline llvm::StringRef canonicalDomain(llvm::StringRef domain) {
  return domain == "ai.onnx" ? llvm::StringRef() : domain;
}

/// The reason reported for models with sequences, optionals or maps.
inline constexpr llvm::StringLiteral kNoSequences =
    "sequences, optionals and maps have no place in device memory; a tensor that grows by Concat in a Loop, or rows "
    "that a Loop or Scan collects, have";

class Node;
struct OpEntry;
using ImportFn = mlir::LogicalResult (*)(Node &);

/// Imports one model: its state from the first check to the finished function.
class Importer {
public:
  Importer(llvm::StringRef path, ModelFile &file, const ImportOptions &options, mlir::MLIRContext &context,
           std::vector<std::string> &errors)
      : builder(&context), file(file), path(path), options(options), errors(errors) {}

  /// Imports the model. Null after any reported error.
  mlir::OwningOpRef<mlir::ModuleOp> run();

  //===-- For Node --===//
  mlir::OpBuilder builder;
  ModelFile &file;
  /// The value of a tensor name; constants are materialised on first use.
  mlir::Value value(llvm::StringRef name);
  mlir::RankedTensorType type(llvm::StringRef name);
  std::optional<top::Weight> constant(llvm::StringRef name);
  void define(llvm::StringRef name, mlir::Value value);
  void define(llvm::StringRef name, top::Weight weight);
  /// Defines a constant of strings by a tensor of them; reports nothing, false with a reason on error.
  bool defineStrings(llvm::StringRef name, const ::onnx::TensorProto &tensor, std::string &reason);
  /// Whether a node or the model's result reads the tensor.
  bool isRead(llvm::StringRef name) const { return read.contains(name); }
  /// Records a tensor that was eliminated.
  void absorb(llvm::StringRef name) { absorbed.insert(name); }
  void reportNode(const ::onnx::NodeProto &node, int64_t opset, const llvm::Twine &reason);
  /// Number of errors reported so far, and removal of those reported since then.
  size_t numReports() const { return errors.size(); }
  void takeBack(size_t count) { errors.resize(count); }
  //===-- Dynamic sizes: Control/Versions.cpp --===//
  using Shape = std::vector<int64_t>;
  /// Shapes of several tensors.
  using Shapes = std::vector<Shape>;
  /// Tensors with dynamic extents, and their possible combined shapes.
  struct ShapeSet {
    llvm::SmallVector<mlir::Value> values;
    std::vector<Shapes> choices;
    bool isWhole = true; ///< no run has other shapes
  };
  /// One of several versions of a graph, with the values or shapes assumed in it.
  struct Version {
    llvm::SmallVector<int64_t> elements; ///< elements of an integer tensor, or
    Shapes shapes;                       ///< shapes of the tensors of a set
    mlir::Block *block = nullptr;
  };
  /// Records that a node requires the elements or extents of integer tensor `name` at import. The node must then fail;
  /// its errors are dropped if versions of the graph can be made.
  void need(llvm::StringRef name) { unknown = name.str(); }
  bool hasNeed() const { return !unknown.empty(); }
  /// Records that an integer of one element has values in [0, count); 0 = make no versions for it.
  void setCount(mlir::Value value, int64_t count) { counts[value] = count; }
  void setShapes(llvm::ArrayRef<mlir::Value> values, std::vector<Shapes> choices, bool isWhole = true);
  /// Records that the one extent that each of the values leaves open is the same number of `least` to `most`.
  /// Not `areFew`: with what else the same numbers decide there would be more versions than there may be.
  void setExtents(llvm::ArrayRef<mlir::Value> values, int64_t least, int64_t most, bool areFew = true);
  /// All possible combined shapes of the values; nullopt when unknown.
  std::optional<std::vector<Shapes>> shapesOf(mlir::ValueRange values);
  /// Records the possible shapes of the results of a control-flow op.
  void noteShapes(mlir::Operation *op);
  /// Removes all records of `op`'s results. Must be called before it is erased.
  void forget(mlir::Operation *op);
  /// Upper bound of run-time values that become extents.
  int64_t maxExtent() const { return options.maxExtent; }
  /// Whether nodes are imported into a body of control flow, whose values end with it.
  bool isInBody() const { return depth > 0; }
  /// Why a tensor of this type is larger than any memory, "" if it is not.
  static std::string sizeProblem(mlir::RankedTensorType type);
  static top::Weight emptyWeight(mlir::RankedTensorType type) { return {type, {}, nullptr}; }

  //===-- State: State.cpp --===//
  /// An input whose value lives between runs, and the output with its new value.
  struct StatePair {
    std::string input, output;
    int64_t axis = -1;  ///< of the rows that a run writes; -1: the whole tensor is replaced
    bool grows = false; ///< rows are appended: the state has --state_length of them, and a position
  };
  /// The pair of an input; null for any other tensor.
  const StatePair *stateOf(llvm::StringRef input) const;
  /// Notes that a node writes `rows` rows of a state, appended if `grows`.
  mlir::LogicalResult countRows(Node &node, int64_t rows, bool grows);
  int64_t numDraws = 0; ///< nodes that draw random numbers, so far
  mlir::Value position; ///< the argument with the position; null where no state grows
  /// A state after rows were appended, or what is made of it: the axis of its rows, and whether all behind them is 0.
  struct Grown {
    int64_t axis;
    bool isZero;
  };
  llvm::DenseMap<mlir::Value, Grown> grown;
  llvm::DenseMap<int64_t, mlir::Value> lengths; ///< their rows, by number of batches
  std::optional<int64_t> stateRows;             ///< that a run writes

  /// Reports an error where `made`, which a body of control flow gives out as `name`, has rows that are counted at run
  /// time.
  bool mayLeaveBody(const llvm::Twine &who, llvm::StringRef name, mlir::Value made);

  /// Imports a subgraph at the insertion point with inputs `arguments`. Names of enclosing graphs are visible; its own
  /// go out of scope at its end. Returns the values of its outputs; nullopt after an error.
  std::optional<llvm::SmallVector<mlir::Value>> importSubgraph(const ::onnx::GraphProto &graph,
                                                               llvm::ArrayRef<mlir::Value> arguments);

private:
  struct Tensor {
    mlir::Value value;
    std::optional<top::Weight> weight;
    std::optional<std::pair<mlir::RankedTensorType, std::vector<std::string>>> strings; ///< a constant of them
  };

  /// Whether a node imported so far, an input or an initializer defines the tensor.
  bool isDefined(llvm::StringRef name) const {
    auto it = tensors.find(name);
    return it != tensors.end() && (it->second.value || it->second.weight || it->second.strings);
  }
  void report(const llvm::Twine &reason) { errors.push_back((path + ": " + reason).str()); }
  /// Finds the pairs that the options name.
  bool findStates();
  void addState(const ::onnx::ValueInfoProto &input, const std::string &output,
                const llvm::StringMap<const ::onnx::NodeProto *> &producers);
  static void classifyState(StatePair &pair, const llvm::StringMap<const ::onnx::NodeProto *> &producers, int64_t rank);
  std::string inputNames();
  std::string outputNames();
  /// Marks the arguments that are state; adds the position.
  void markStates(mlir::func::FuncOp func);
  /// Fails where a node reads a state that grows and cannot tell existing rows from others; `result`: its output's
  /// rows.
  mlir::LogicalResult checkReader(const ::onnx::NodeProto &node, const llvm::Twine &op, std::optional<Grown> &result);
  std::optional<Grown> grownOf(llvm::StringRef name) const;
  std::optional<Grown> grownProduct(const ::onnx::NodeProto &node);
  std::optional<Grown> grownResult(const ::onnx::NodeProto &node);
  /// Puts new values of states behind the outputs.
  void placeStateOutputs();
  bool finishStates(mlir::func::FuncOp func);
  bool checkModel();
  bool importInitializers();
  bool importInputValues();
  bool importInitializer(const ::onnx::TensorProto &tensor, llvm::StringRef raw, bool isMapped);
  /// Types of the inputs that are not initializers.
  bool inputTypes(llvm::SmallVectorImpl<mlir::Type> &types);
  /// Whether each output has the element type that the model says.
  bool checkOutputTypes();
  std::optional<llvm::SmallVector<int64_t>> inputShape(const ::onnx::ValueInfoProto &input, const InputShape *given,
                                                       const StatePair *state);
  void setInputShapes(llvm::ArrayRef<mlir::Value> values);
  /// Determines the outputs of the function and the nodes they depend on, in the file's order.
  bool selectNodes();
  /// The error of tensors each of which is computed from the next one, the last from the first.
  void reportCycle(llvm::ArrayRef<llvm::StringRef> cycle);
  /// A graph or subgraph: its nodes in order and the names defined in it.
  struct Graph {
    llvm::SmallVector<const ::onnx::NodeProto *> nodes;
    llvm::StringSet<> own;
  };
  /// Imports nodes of a graph in order; from the first node that depends on a dynamic size, in versions. `wanted`:
  /// names read afterwards. False after errors, or (with `unknown` set) when an enclosing graph has to be imported in
  /// versions.
  bool importNodes(const Graph &graph, llvm::ArrayRef<const ::onnx::NodeProto *> list,
                   llvm::ArrayRef<std::string> wanted);
  bool tryNode(const ::onnx::NodeProto &node);
  std::string rootOf(const Graph &graph, std::string name);
  bool mayChoose(llvm::StringRef name);
  /// How many values each of these numbers may have in versions.
  int64_t choicesOfEach(mlir::Value numbers);
  /// Whether the numbers that decide a list of sizes have more values together than there may be versions.
  bool areTooMany(const Graph &graph, const std::string &name);
  //===-- Sizes of a run on the host: RunTime/RunTime.cpp --===//
  /// Whether versions of what reads the tensor serve every run.
  bool haveVersionsAll(llvm::StringRef name);
  /// Has the nodes that read these numbers computed by the host's forms. False where they are already.
  bool takeFromRun(llvm::StringRef name);
  /// How the host computes the node where it reads sizes of a run, or what followed from them; null where it reads none
  /// or has no such form.
  ImportFn formOf(const ::onnx::NodeProto &node, llvm::StringRef op);
  /// Imports the nodes with the host's forms. False, and nothing is changed, where one has none; `reasons` says which.
  bool importAtRunTime(const Graph &graph, llvm::ArrayRef<const ::onnx::NodeProto *> list,
                       llvm::ArrayRef<std::string> wanted, std::vector<std::string> &reasons);
  /// importVersions; where versions within versions are too many, importAtRunTime.
  bool importVersionsOrForms(const Graph &graph, llvm::ArrayRef<const ::onnx::NodeProto *> list,
                             const std::string &root, llvm::ArrayRef<std::string> wanted);
  class VersionImport;
  bool importVersions(const Graph &graph, llvm::ArrayRef<const ::onnx::NodeProto *> list, const std::string &root,
                      llvm::ArrayRef<std::string> wanted);
  std::optional<llvm::SmallVector<mlir::Value>>
  chooseVersion(mlir::Value decider, const ShapeSet *set, llvm::ArrayRef<Version> versions, const std::string &message);
  static bool isStatic(mlir::Type type) { return mlir::cast<mlir::RankedTensorType>(type).hasStaticShape(); }
  /// Imports a node whose inputs are defined.
  void importNode(const ::onnx::NodeProto &node);
  /// Why the node's inputs cannot be read yet, "" if they can; nullopt where an earlier error is the cause.
  /// `takesOpen`: they may have extents that are known at run time only.
  std::optional<std::string> inputProblem(const ::onnx::NodeProto &node, const OpEntry &entry, bool takesOpen);
  //===-- Kernels of the user: UserKernels.cpp --===//
  static std::string nameOfKernel(const ::onnx::NodeProto &node);
  bool hasUserKernel(const ::onnx::NodeProto &node) const;
  mlir::LogicalResult importUserKernel(Node &node, const ::onnx::NodeProto &proto);
  /// Why the node's outputs are larger than any memory, "" if they are not.
  std::string sizeProblem(const ::onnx::NodeProto &node);
  /// The opset version of a node; nullopt when the model does not import its domain.
  std::optional<int64_t> opsetOf(const ::onnx::NodeProto &node) const;
  void finishFunction(mlir::func::FuncOp func);

  std::string path;
  const ImportOptions &options;
  std::vector<std::string> &errors;

  llvm::StringMap<int64_t> opsets;
  llvm::StringMap<Tensor> tensors;
  /// Results of nodes that could not be imported; their users are not reported.
  llvm::StringSet<> poisoned;
  llvm::StringSet<> read;
  llvm::SetVector<llvm::StringRef> absorbed;
  std::vector<const ::onnx::ValueInfoProto *> inputs;
  std::vector<llvm::SmallVector<std::string>> dimNames; ///< of each input, "" for a dimension without a name
  std::vector<const ::onnx::NodeProto *> nodes;
  std::vector<std::string> outputs;
  std::vector<StatePair> states;
  bool rowsGrow = false;        ///< `stateRows` are appended
  mlir::Block *entry = nullptr; ///< entry block of the function
  unsigned depth = 0;           ///< nesting depth of subgraphs and versions
  std::string unknown;          ///< the tensor required by the last node (need)
  unsigned numVersions = 0;
  size_t versionNodes = 0;         ///< of all versions
  bool areVersionsTooMany = false; ///< they were: the host's forms come first from then on
  llvm::DenseMap<mlir::Value, std::shared_ptr<ShapeSet>> shapeSets;
  llvm::DenseMap<mlir::Value, int64_t> counts;
  llvm::SmallVector<std::unique_ptr<mlir::Block>> dropped; ///< blocks of infeasible versions
  bool isAtRunTime = false;                                ///< the host's forms are taken
  llvm::DenseSet<mlir::Value> ofRunTime;                   ///< what they gave, and what decides their sizes
};

/// Collects the names read by a node: its inputs, and the outer names used in its subgraphs.
void readNames(const ::onnx::NodeProto &node, llvm::StringSet<> &names);

} // namespace pto_mlir::onnx

#endif // PTO_MLIR_LIB_FRONTEND_ONNX_IMPORTER_H
