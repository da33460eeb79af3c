// Which ONNX operators are imported, over which opsets, and by what.
#ifndef PTO_MLIR_LIB_FRONTEND_ONNX_REGISTRY_H
#define PTO_MLIR_LIB_FRONTEND_ONNX_REGISTRY_H

#include "Node.h"
#include "pto_mlir/Frontend/ONNX/Import.h"

namespace pto_mlir::onnx {

/// No limit on the number of inputs.
inline constexpr int kVariadic = INT_MAX;

struct OpEntry {
  int from, to; ///< opsets, both included
  int minInputs, maxInputs;
  ImportFn import;

  /// Whether the inputs are a list, which has no gaps.
  bool takesList() const { return minInputs > 0 && maxInputs == kVariadic; }
};

class Registry {
public:
  /// All importers of this library.
  static const Registry &get();

  /// Registers an operator of the default domain.
  void add(llvm::StringRef op, OpEntry entry) { entries[op].push_back(entry); }

  /// The entry that covers the opset, or null; `known` says whether another opset of the operator is supported.
  const OpEntry *find(llvm::StringRef op, int64_t opset, bool &known) const;

  const llvm::StringMap<llvm::SmallVector<OpEntry, 1>> &all() const { return entries; }

private:
  Registry();
  llvm::StringMap<llvm::SmallVector<OpEntry, 1>> entries;
};

} // namespace pto_mlir::onnx

#endif // PTO_MLIR_LIB_FRONTEND_ONNX_REGISTRY_H
