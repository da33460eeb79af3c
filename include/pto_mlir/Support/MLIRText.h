// What untrusted text in MLIR's syntax must not hold, because MLIR's parser would not survive it.
#ifndef PTO_MLIR_SUPPORT_MLIRTEXT_H
#define PTO_MLIR_SUPPORT_MLIRTEXT_H

#include <string>
#include <string_view>

namespace pto_mlir {

/// "line 7: '%c8' is used before the region that defines it" for the first such use, else "". MLIR 19's parser keeps a
/// placeholder for a value that is not defined yet, and frees it at the definition, even while the operation that uses
/// it is being parsed: a region of that operation which defines the value leaves it a dangling operand. No valid
/// program has such a use, since no value is visible outside of its region.
std::string forwardUseProblem(std::string_view text);

/// The first of nestingProblem (Support/Nesting.h) and forwardUseProblem, else "". Asked before MLIR's parser reads
/// `text`.
std::string textProblem(std::string_view text);

} // namespace pto_mlir

#endif // PTO_MLIR_SUPPORT_MLIRTEXT_H
