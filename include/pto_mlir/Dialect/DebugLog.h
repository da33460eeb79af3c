//===- DebugLog.h - What a pass says when it is asked ------------*- C++ -*-===//
//
// Include it after `#define DEBUG_TYPE "<the pass's name>"`. Output goes to stderr, in builds with assertions only:
// `pto-opt --debug-only=pto-insert-sync ..` (docs/developing.md).
//
//===----------------------------------------------------------------------===//
#ifndef PTO_MLIR_DIALECT_DEBUGLOG_H
#define PTO_MLIR_DIALECT_DEBUGLOG_H

#include "llvm/Support/Debug.h"
#include "llvm/Support/raw_ostream.h"

/// One line of a pass's debug output: PTO_DEBUG(func.getName() << ": " << count << " flags").
#define PTO_DEBUG(line) LLVM_DEBUG(llvm::dbgs() << "[" DEBUG_TYPE "] " << line << "\n")

#endif // PTO_MLIR_DIALECT_DEBUGLOG_H
