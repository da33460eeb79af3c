// Storage of the weights of all modules of a context, outside the IR.
#ifndef PTO_MLIR_DIALECT_TOP_IR_WEIGHTSTORE_H
#define PTO_MLIR_DIALECT_TOP_IR_WEIGHTSTORE_H

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include <memory>
#include <mutex>
#include <vector>

namespace pto_mlir::top {

/// A constant tensor: row-major little-endian elements; i1 takes one byte per element.
struct Weight {
  mlir::RankedTensorType type;
  llvm::ArrayRef<char> bytes;
  /// The owner of `bytes`: a mapped file or a buffer.
  std::shared_ptr<const void> owner;
};

/// Bytes of one element as stored (i1: 1; a quantised type: of its integers).
int64_t elementBytes(mlir::Type elementType);

/// Bytes of a whole tensor as stored; nullopt if the number does not fit in 63 bits.
std::optional<int64_t> tensorBytes(mlir::RankedTensorType type);

/// Maps names to weights. Entries are immutable and never move; thread-safe.
class WeightStore {
public:
  /// The entry of this name, or null. Valid for the lifetime of the store.
  const Weight *lookup(llvm::StringRef name) const;

  /// Adds a weight owned by the store under `name`, or `name` with a suffix if that is taken. Returns the name used.
  /// The number of bytes must be tensorBytes(type).
  std::string add(llvm::StringRef name, mlir::RankedTensorType type, std::vector<char> bytes);

  /// As add, for bytes owned by `owner`.
  std::string addExternal(llvm::StringRef name, mlir::RankedTensorType type, llvm::ArrayRef<char> bytes,
                          std::shared_ptr<const void> owner);

private:
  mutable std::mutex mutex;
  llvm::StringMap<std::unique_ptr<Weight>> weights;
};

} // namespace pto_mlir::top

#endif // PTO_MLIR_DIALECT_TOP_IR_WEIGHTSTORE_H
