//===- PTOText.h - pto functions as .pto text -------------------------*- C++ -*-===//
//
// The emitter of `.pto` text, for pto functions before address planning (kernels of models) or after it (hand-written
// texts).
//
//===----------------------------------------------------------------------===//
#ifndef PTO_MLIR_TARGET_PTOTEXT_PTOTEXT_H
#define PTO_MLIR_TARGET_PTOTEXT_PTOTEXT_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "pto_mlir/Dialect/PTO/IR/PTO.h"

namespace pto_mlir::ptotext {

/// The consumer of the text.
enum class Reader {
  Assembler, // the public assembler: restricted to the ops and scalars that it lowers
  Compiler   // pto-compile: the whole dialect, without rewriting
};

/// A kernel: one function with `pto.kernel_kind`, or a cube part and a vector part.
struct Kernel {
  mlir::func::FuncOp main;
  mlir::func::FuncOp vectorPart; // null: `main` is the whole kernel
};

/// Why `reader` does not support the kernel, as "op: reason"; empty when it does.
std::string whyNot(const Kernel &kernel, Reader reader);

/// Both parts of a kernel in sections of a new function with the name of `main`. `takesSemaphores`: the memory of the
/// semaphores is one more argument, the last.
mlir::func::FuncOp joinParts(mlir::OpBuilder &b, const Kernel &kernel, bool takesSemaphores);

/// A new module with the kernel as entry `name`, in constructs supported by `reader`. The parts of a kernel become
/// sections of one function; on a3 its last argument is then the memory of the semaphores. `rewritten` receives the
/// constructs replaced for `reader`.
mlir::OwningOpRef<mlir::ModuleOp> makeModule(const Kernel &kernel, llvm::StringRef name, llvm::StringRef processor,
                                             Reader reader, std::string &rewritten);

/// How the text is written; what it means is the same.
enum class Style {
  Today, // as the public assembler prints it
  Seed // as the first PTOCodegen did: constants, views, tiles and ops in this order, tile types in full, a type behind
       // each operand
};

/// On alloc_tile: in style Seed its type says `blayout=none_box`, which is read as row_major.
inline constexpr llvm::StringLiteral kNoBoxAttr = "pto.none_box";

/// A tile's type in full, as style Seed writes it: `!pto.tile_buf<loc=vec, dtype=f32, rows=32, .., pad=0>`.
std::string fullText(pto::TileBufType type, bool noBox = false);

/// Prints a module of pto functions. Style Seed first moves the constants, tiles and views of each function to its
/// beginning.
void print(mlir::ModuleOp module, llvm::raw_ostream &os, Style style = Style::Today);

/// Prints to the file `path`. Returns the reason of a failure, after which nothing is written; empty on success.
std::string writeFile(mlir::ModuleOp module, llvm::StringRef path);

} // namespace pto_mlir::ptotext

#endif
