// Names of C++ variables for MLIR values.
#ifndef PTO_MLIR_LIB_TARGET_CPP_NAMES_H
#define PTO_MLIR_LIB_TARGET_CPP_NAMES_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/StringSet.h"

namespace pto_mlir::cpp {

/// The name that a value has in its source, from its location; empty for numbers (`%0`) and constants (`%c16`).
std::string sourceName(mlir::Value value);

/// `name` as an identifier: other characters become underscores, keywords get one behind them.
std::string sanitized(llvm::StringRef name);

/// The names of one function; none is given out twice.
class Names {
public:
  /// `wanted` when it is free, else with a number; without `wanted`, v1, v2, ..
  std::string fresh(llvm::StringRef wanted);

private:
  llvm::StringSet<> taken;
  unsigned count = 0;
};

} // namespace pto_mlir::cpp

#endif
