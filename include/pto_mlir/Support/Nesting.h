// Limits the bracket nesting of untrusted text before a recursive parser reads it.
#ifndef PTO_MLIR_SUPPORT_NESTING_H
#define PTO_MLIR_SUPPORT_NESTING_H

#include <cstddef>
#include <string>
#include <string_view>

namespace pto_mlir {

/// More than programs need, and few enough for the stack of MLIR's recursive parser and passes.
constexpr size_t kMostBrackets = 256;

/// "line 3: more than 256 brackets are open" for a text in MLIR's syntax whose brackets nest deeper than
/// `kMostBrackets`, else "". Strings and comments are skipped, and `->` is not a bracket. Whether brackets match is
/// left to the parser.
std::string nestingProblem(std::string_view text);

} // namespace pto_mlir

#endif // PTO_MLIR_SUPPORT_NESTING_H
