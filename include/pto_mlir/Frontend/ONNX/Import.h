// ONNX file -> top module.
#ifndef PTO_MLIR_FRONTEND_ONNX_IMPORT_H
#define PTO_MLIR_FRONTEND_ONNX_IMPORT_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "pto_mlir/Frontend/ONNX/UserKernels.h"
#include "pto_mlir/Frontend/ONNX/VersionLimits.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MemoryBuffer.h"
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace pto_mlir::onnx {

/// Supported ONNX versions: the newest IR version and operator set (onnx 1.23), and the oldest operator set.
inline constexpr int64_t kMaxIRVersion = 14;
inline constexpr int64_t kMaxOpset = 28;
inline constexpr int64_t kMinOpset = 7;

/// The mapped files of one model, by their places in its folder; the model itself is "".
using MappedFiles = llvm::StringMap<std::unique_ptr<llvm::MemoryBuffer>>;

/// The shape of an input; a name stands for a dimension whose sizes ImportOptions::sizes gives.
using InputShape = std::vector<std::variant<int64_t, std::string>>;

/// How a model is imported.
struct ImportOptions {
  /// One shape per graph input (excluding initializers), in the model's order; empty = the model's own, which must then
  /// be static.
  std::vector<InputShape> inputShapes;
  /// Tensors that become the outputs of the imported graph; empty = the model's outputs.
  std::vector<std::string> outputNames;
  /// Symbol name of the module; empty = the file's stem.
  std::string modelName;
  /// Upper bound of dynamic extents, and of run-time values that become extents; a version is compiled for every size
  /// up to it.
  int64_t maxExtent = 32;
  /// Sizes of dimensions that the model (dim_param) or inputShapes names; a version is compiled for each.
  std::map<std::string, std::vector<int64_t>> sizes;
  /// Pairs of an input and an output that are state: INPUT=OUTPUT with * for parts of names that are equal, `auto`, or
  /// several of them with commas between; empty = none.
  std::string state;
  /// The greatest number of rows of states that grow by every run's.
  int64_t stateLength = 0;
  /// Inputs whose values are known, each a serialized TensorProto: they become constants and are inputs no more.
  std::map<std::string, std::string> inputValues;
  UserKernels kernels;
  /// Shared by several imports of one model, so that they read the same bytes; null = mapped for this import.
  std::shared_ptr<MappedFiles> files = nullptr;
};

/// Reads the model at `path` and builds a module with one function `@main` in the top dialect (docs/lowering.md,
/// section 1). Weights go to the WeightStore of the context's top dialect, which is loaded on demand; large ones are
/// not copied from the mapped file. Null on error; then `errors` has one line per error, "<path>: <reason>" or "<path>:
/// node '<name>' (<op>, opset <n>): <reason>".
mlir::OwningOpRef<mlir::ModuleOp> importONNX(llvm::StringRef path, const ImportOptions &options,
                                             mlir::MLIRContext &context, std::vector<std::string> &errors);

/// Why extents of the model's tensors may be other functions of its inputs' extents than products, so that a few
/// imports do not show how they depend on them: "<node>: .."; nullopt: they are products.
std::optional<std::string> sizeUseProblem(llvm::StringRef path);

/// Parses "[[1,3,224,224],[1,10]]" (a single "[1,3,224,224]" is one shape, "[[]]" one scalar); sizes must be positive.
/// Nullopt on malformed text, with `error` set.
std::optional<std::vector<InputShape>> parseShapes(llvm::StringRef text, std::string &error);

} // namespace pto_mlir::onnx

#endif // PTO_MLIR_FRONTEND_ONNX_IMPORT_H
