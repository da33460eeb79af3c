// Constants of strings.
#ifndef PTO_MLIR_DIALECT_TOP_IR_STRINGS_H
#define PTO_MLIR_DIALECT_TOP_IR_STRINGS_H

#include "mlir/IR/Builders.h"

#include <string>
#include <vector>

namespace pto_mlir::top {

/// A constant of strings: the host operation `strings` on their bytes and lengths, which are constants like others.
mlir::Value createStrings(mlir::OpBuilder &builder, mlir::Location loc, llvm::StringRef name,
                          llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<std::string> values);

} // namespace pto_mlir::top

#endif // PTO_MLIR_DIALECT_TOP_IR_STRINGS_H
