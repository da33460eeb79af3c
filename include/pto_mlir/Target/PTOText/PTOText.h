//===- PTOText.h - pto functions as .pto text -------------------------*- C++ -*-===//
//
// The only emitter of `.pto`. It works on pto functions before they are planned (a model's kernels) or after (a
// text's).
//
//===----------------------------------------------------------------------===//
#ifndef PTO_MLIR_TARGET_PTOTEXT_PTOTEXT_H
#define PTO_MLIR_TARGET_PTOTEXT_PTOTEXT_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace pto_mlir::ptotext {

/// Who reads the text.
enum class Reader {
  Assembler, // the public assembler: ops and scalars that it lowers
  Compiler   // pto-compile: the whole dialect, so that nothing has to be rewritten
};

/// A kernel: one function with `pto.kernel_kind`, or the cube core's and the vector cores' part.
struct Kernel {
  mlir::func::FuncOp main;
  mlir::func::FuncOp vectorPart; // null: `main` is all of it
};

/// Why `reader` cannot take the kernel, "op: reason"; empty when it can.
std::string whyNot(const Kernel &kernel, Reader reader);

/// A module of its own with the kernel as entry `name`, in the constructs that `reader` takes. The parts of a kernel
/// become sections of one function; for the a3 its last argument is then the memory of the semaphores. `rewritten` gets
/// what `reader` has other words for.
mlir::OwningOpRef<mlir::ModuleOp> makeModule(const Kernel &kernel, llvm::StringRef name, llvm::StringRef processor,
                                             Reader reader, std::string &rewritten);

/// Prints a module of pto functions.
void print(mlir::ModuleOp module, llvm::raw_ostream &os);

/// Prints to the file `path`; on failure nothing is written and the reason comes back.
std::string writeFile(mlir::ModuleOp module, llvm::StringRef path);

} // namespace pto_mlir::ptotext

#endif
