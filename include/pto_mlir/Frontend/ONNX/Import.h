// ONNX file -> top module.
#ifndef PTO_MLIR_FRONTEND_ONNX_IMPORT_H
#define PTO_MLIR_FRONTEND_ONNX_IMPORT_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace pto_mlir::onnx {

/// The newest file format and operator set that this importer knows (onnx 1.23), and the oldest operator set.
inline constexpr int64_t kMaxIRVersion = 14;
inline constexpr int64_t kMaxOpset = 28;
inline constexpr int64_t kMinOpset = 7;

struct ImportOptions {
  /// One shape per graph input (initializers left out), in the model's order; empty = as the model says, which must
  /// then be static.
  std::vector<std::vector<int64_t>> inputShapes;
  /// Tensors at which to cut the graph; empty = the model's outputs.
  std::vector<std::string> outputNames;
  /// Symbol name of the module; empty = the file's stem.
  std::string modelName;
  /// The largest extent, or number that becomes one, that a run may bring forth: all sizes up to it are compiled.
  int64_t maxExtent = 32;
  /// Sizes of dimensions that the model names (dim_param); all of them are compiled.
  std::map<std::string, std::vector<int64_t>> sizes;
};

/// Reads the model at `path` and builds a module with one function `@main` in the top dialect (docs/lowering.md,
/// section 1). Weights go to the WeightStore of the context's top dialect, which is loaded if need be; large ones stay
/// in the mapped file. Null on error; then `errors` has one line per problem found, "<path>: <reason>" or "<path>: node
/// '<name>' (<op>, opset <n>): <reason>".
mlir::OwningOpRef<mlir::ModuleOp> importONNX(llvm::StringRef path, const ImportOptions &options,
                                             mlir::MLIRContext &context, std::vector<std::string> &errors);

/// Parses "[[1,3,224,224],[1,10]]" (a single "[1,3,224,224]" is one shape, "[[]]" one scalar); sizes must be positive.
/// The text is never evaluated. Nullopt with `error` set otherwise.
std::optional<std::vector<std::vector<int64_t>>> parseShapes(llvm::StringRef text, std::string &error);

} // namespace pto_mlir::onnx

#endif // PTO_MLIR_FRONTEND_ONNX_IMPORT_H
