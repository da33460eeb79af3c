//===- ReadText.h - what must be known or done before .pto is parsed --*- C++ -*-===//
#ifndef PTO_MLIR_DIALECT_PTO_IR_READTEXT_H
#define PTO_MLIR_DIALECT_PTO_IR_READTEXT_H

#include "mlir/IR/DialectRegistry.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace pto_mlir::pto {

/// Contexts made from `registry` parse `left` tiles for this architecture; see `targetOfText`.
void setParseFor(mlir::DialectRegistry &registry, const Target &arch);

/// `text` in the assembler's spelling. Also read is: no comma before the strides of make_tensor_view, a type behind
/// each operand of `ins(..)` and `outs(..)`, and `blayout=none_box` for row_major. Everything else, comments, strings
/// and the number of lines included, stays; text in the assembler's spelling comes back unchanged.
std::string acceptRelaxedText(llvm::StringRef text);

} // namespace pto_mlir::pto

#endif
