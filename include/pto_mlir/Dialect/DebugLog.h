//===- DebugLog.h - What a pass says when it is asked ------------*- C++ -*-===//
//
// Include it after `#define DEBUG_TYPE "<the pass's name>"`. Output goes to stderr, in every build:
// `pto-opt --debug-only=pto-insert-sync ..` (docs/developing.md). LLVM_DEBUG would serve builds with assertions only.
//
//===----------------------------------------------------------------------===//
#ifndef PTO_MLIR_DIALECT_DEBUGLOG_H
#define PTO_MLIR_DIALECT_DEBUGLOG_H

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <string>
#include <vector>

namespace pto_mlir {

/// The passes whose debug output is wanted. Set before passes run.
inline std::vector<std::string> debuggedPasses;

inline bool isDebugged(llvm::StringRef pass) {
  return !debuggedPasses.empty() && llvm::is_contained(debuggedPasses, pass);
}

/// Writes one line at once, as passes run on several threads.
inline void debugLine(llvm::StringRef pass, llvm::function_ref<void(llvm::raw_ostream &)> write) {
  std::string line;
  llvm::raw_string_ostream os(line);
  os << "[" << pass << "] ";
  write(os);
  os << "\n";
  llvm::errs() << line;
}

} // namespace pto_mlir

/// One line of a pass's debug output: PTO_DEBUG(func.getName() << ": " << count << " flags").
#define PTO_DEBUG(line)                                                                                                \
  do {                                                                                                                 \
    if (::pto_mlir::isDebugged(DEBUG_TYPE))                                                                            \
      ::pto_mlir::debugLine(DEBUG_TYPE, [&](llvm::raw_ostream &os) { os << line; });                                   \
  } while (false)

#endif // PTO_MLIR_DIALECT_DEBUGLOG_H
