// Where the weights of all modules of a context live: beside the IR, never in it.
#ifndef PTO_MLIR_DIALECT_TOP_IR_WEIGHTSTORE_H
#define PTO_MLIR_DIALECT_TOP_IR_WEIGHTSTORE_H

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include <memory>
#include <mutex>
#include <vector>

namespace pto_mlir::top {

/// A constant tensor: row-major little-endian elements, i1 as one byte per element.
struct Weight {
  mlir::RankedTensorType type;
  llvm::ArrayRef<char> bytes;
  /// Keeps `bytes` alive: a mapped file or an owned buffer.
  std::shared_ptr<const void> owner;
};

/// Bytes of one element as stored (i1: 1).
int64_t elementBytes(mlir::Type elementType);

/// Bytes of a whole tensor as stored; nullopt when it does not fit 63 bits.
std::optional<int64_t> tensorBytes(mlir::RankedTensorType type);

/// Name -> weight. Entries never change or move once added; any thread may use it.
class WeightStore {
public:
  /// The entry of this name, or null. Valid as long as the store.
  const Weight *lookup(llvm::StringRef name) const;

  /// Adds a weight that the store owns, under `name` or, when that is taken, `name` with a suffix. Returns the name
  /// used. The number of bytes must be tensorBytes(type).
  std::string add(llvm::StringRef name, mlir::RankedTensorType type, std::vector<char> bytes);

  /// The same for bytes that live elsewhere, kept alive by `owner`.
  std::string addExternal(llvm::StringRef name, mlir::RankedTensorType type, llvm::ArrayRef<char> bytes,
                          std::shared_ptr<const void> owner);

private:
  mutable std::mutex mutex;
  llvm::StringMap<std::unique_ptr<Weight>> weights;
};

} // namespace pto_mlir::top

#endif // PTO_MLIR_DIALECT_TOP_IR_WEIGHTSTORE_H
