// The registry of importers by ONNX operator and opset.
#ifndef PTO_MLIR_LIB_FRONTEND_ONNX_REGISTRY_H
#define PTO_MLIR_LIB_FRONTEND_ONNX_REGISTRY_H

#include "Node.h"
#include "pto_mlir/Frontend/ONNX/Import.h"

namespace pto_mlir::onnx {

/// No limit on the number of inputs.
inline constexpr int kVariadic = INT_MAX;
/// Of an OpEntry: the operator moves or compares strings, or is about them.
inline constexpr bool kTakesStrings = true;

struct OpEntry {
  int from, to; ///< range of opsets, inclusive
  int minInputs, maxInputs;
  ImportFn import;
  bool takesStrings = false;

  /// Whether the inputs are a list, which has no gaps.
  bool takesList() const { return minInputs > 0 && maxInputs == kVariadic; }
};

class Registry {
public:
  /// All importers of this library.
  static const Registry &get();

  /// Registers an operator: its name, after its domain and a dot unless that is the default one.
  void add(llvm::StringRef op, OpEntry entry) { entries[op].push_back(entry); }

  /// The entry for the opset, or null; `known` is set when the operator is supported for another opset.
  const OpEntry *find(llvm::StringRef op, int64_t opset, bool &known) const;

  const llvm::StringMap<llvm::SmallVector<OpEntry, 1>> &all() const { return entries; }

private:
  Registry();
  llvm::StringMap<llvm::SmallVector<OpEntry, 1>> entries;
};

} // namespace pto_mlir::onnx

#endif // PTO_MLIR_LIB_FRONTEND_ONNX_REGISTRY_H
