// How deep the brackets of a text nest, asked before a parser that calls itself reads it.
#ifndef PTO_MLIR_SUPPORT_NESTING_H
#define PTO_MLIR_SUPPORT_NESTING_H

#include <cstddef>
#include <string>
#include <string_view>

namespace pto_mlir {

/// More than any program needs, and less than MLIR's recursive parser and passes have stack for.
constexpr size_t kMostBrackets = 256;

/// "line 3: more than 256 brackets are open" for a text in MLIR's syntax whose brackets nest deeper than
/// `kMostBrackets`, else "". Strings and comments are skipped, the `>` of an arrow closes nothing; brackets need not
/// match, which is the parser's business.
std::string nestingProblem(std::string_view text);

} // namespace pto_mlir

#endif // PTO_MLIR_SUPPORT_NESTING_H
