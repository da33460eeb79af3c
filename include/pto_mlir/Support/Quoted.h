// String literals in MLIR's textual syntax.
#ifndef PTO_MLIR_SUPPORT_QUOTED_H
#define PTO_MLIR_SUPPORT_QUOTED_H

#include <string>
#include <string_view>

namespace pto_mlir {

/// The text in double quotes; quotes and backslashes escaped, control characters as two hexadecimal digits (\0a).
std::string quoted(std::string_view text);

} // namespace pto_mlir

#endif
