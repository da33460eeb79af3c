//===- Cpp.h - pto functions as C++ of the ISA's library --------------*- C++ -*-===//
//
// The emitter of C++ (`TLOAD(..)`, `TADD(..)`, `set_flag(..)`) for pto functions with addresses and flags: what
// `.pto` texts and models are after planning. What an op becomes is said by its definition (PTO_Cpp in
// Dialect/PTO/IR/*.td).
//
//===----------------------------------------------------------------------===//
#ifndef PTO_MLIR_TARGET_CPP_CPP_H
#define PTO_MLIR_TARGET_CPP_CPP_H

#include "mlir/IR/AsmState.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/SourceMgr.h"

#include <optional>

namespace pto_mlir::cpp {

/// They differ in order, names, prologue and types; statements, expressions and calls are the same.
enum class Style {
  Today, // as the public assembler writes it: declarations where they are needed, a parameter per argument
  Seed   // as PyPTO's own generator wrote it: declarations in a prologue, arguments in an array of words
};

/// "today", "seed"; nothing for other names.
std::optional<Style> styleNamed(llvm::StringRef name);

struct Options {
  Style style = Style::Today;
  bool places = false;      // say before each statement which line of the text it comes from
  bool debugPrints = false; // print each tile after the op that writes it
  bool profiling = false;   // read the clock around each op of the library (PTO_PROFILE_BEGIN, PTO_PROFILE_END)
  bool hints = false;       // ask for short loops of known length to be unrolled
};

/// Prints the functions of `module`. On failure an error stands at the op that has no C++, and what was printed is
/// incomplete.
llvm::LogicalResult print(mlir::ModuleOp module, const Options &options, llvm::raw_ostream &os);

/// On a constant: it is a variable of the program, not a literal.
inline constexpr llvm::StringLiteral kVariableAttr = "pto.variable";

/// Parses a text as parseSourceFile does, and puts the name of each value into its location, for its variable.
mlir::OwningOpRef<mlir::ModuleOp> parseWithNames(llvm::SourceMgr &sources, const mlir::ParserConfig &config);

} // namespace pto_mlir::cpp

#endif
