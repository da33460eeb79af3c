// PyPTO's IR to pto functions.
#ifndef PTO_MLIR_FRONTEND_PYPTO_LOWERPYPTO_H
#define PTO_MLIR_FRONTEND_PYPTO_LOWERPYPTO_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "pto_mlir/Dialect/PTO/IR/Target.h"
#include "pypto/ir/program.h"

#include <functional>
#include <map>
#include <set>

namespace pypto::backend {
class Backend;
}
namespace pypto::codegen {
class PTOCodegen;
}

namespace pto_mlir {

struct PyPTOOptions {
  /// Views and tiles that say no layout get the one of their memory space, and columns in global memory `dn`. Else all
  /// of them are row-major, as the seeds have it.
  bool layoutsOfSpaces = true;
  /// Recorded in the module, and decides the layout of tiles in Left; null: the default target, not recorded.
  const pto::Target *target = nullptr;
  /// Tiles lie where their MemRefs say, if these say an address. Else all addresses are left to the planner.
  bool addresses = true;
  /// Slots of one allocation are taken of a pto.alloc_multi_tile, as the public generator prints them where the
  /// assembler places tiles. Else each variable of a slot is a tile of its own, which assemblers without that op take.
  bool slots = false;
  /// Values have their variables' names as locations, for texts with names of their own; a tile whose MemRef says an
  /// address is then one buffer per variable, and a variable of a constant a value of its own (cpp::kVariableAttr).
  bool names = false;
  /// Extents of an entry's tensors that it leaves to the run (pl.dynamic), by name.
  std::map<std::string, int64_t> sizes;
  /// Devices that a program of the host level runs on.
  unsigned ranks = 1;
  /// Of each launch: an orchestrator makes memory for the queues of as many.
  int64_t blocks = 1;
  /// Operations that are emitted as text; null: none. Used with `emitter`.
  const pypto::backend::Backend *backend = nullptr;
  pypto::codegen::PTOCodegen *emitter = nullptr;
  /// Whether the passes behind take a program of a group and its functions: decides if a scope of both kinds of core is
  /// one task. Null: none is, each becomes several kernels.
  std::function<bool(const pypto::ir::ProgramPtr &)> compiles;
};

/// A module with one `func.func` per kernel of the program, in order: what a parsed hand-written `.pto` is. Inside a
/// function constants come first, then tiles, views, and the statements. Functions of the control plane
/// (orchestrators, groups, launches) and inline ones are left out. The context must have all dialects loaded or in its
/// registry. Throws pypto::ValueError, beginning with the place in the source, for what is not legal in a kernel.
mlir::OwningOpRef<mlir::ModuleOp> lowerPyPTO(mlir::MLIRContext &context, const pypto::ir::ProgramPtr &program,
                                             const PyPTOOptions &options = {});

/// A program as what runs it.
struct PyPTOModules {
  mlir::OwningOpRef<mlir::ModuleOp> kernels;
  /// The launches of a run as `vm.func @main`, by names of the kernels; null for kernels without an orchestrator,
  /// unless there is one kernel, which takes only tensors of known sizes: its host program launches it once.
  mlir::OwningOpRef<mlir::ModuleOp> host;
  /// The kernels whose launches are blocks of one `pl.spmd`.
  std::set<std::string> ofBlocks;
};

/// The same with the host program. The kernels are then those that it launches; one that gets its tensors in several
/// ways (strides, several views of one buffer) is there once for each, under a name of its own. Throws as lowerPyPTO,
/// also for an orchestrator whose launches depend on what is known at run time only.
PyPTOModules lowerPyPTOProgram(mlir::MLIRContext &context, const pypto::ir::ProgramPtr &program,
                               const PyPTOOptions &options = {});

/// The program whose orchestrators call a Group for each scope of both kinds of core that is one task
/// (`options.compiles`); the same one where there is none. Throws as lowerPyPTO.
pypto::ir::ProgramPtr formPyPTOGroups(const pypto::ir::ProgramPtr &program, const PyPTOOptions &options);

/// Gets the program behind a step, by the name that the public compiler's pass has.
using PyPTOPassObserver = std::function<void(const char *pass, const pypto::ir::ProgramPtr &program)>;

/// The program as its kernels are compiled, written as a program: scopes of orchestrators are functions, tensors that
/// kernels compute are tiles, a kernel of type InCore is one of type AIC or AIV, or, where it needs both kinds of core,
/// a Group that calls one of each, with queues between them. Throws as lowerPyPTO for a kernel that cannot be divided.
pypto::ir::ProgramPtr expandPyPTO(const pypto::ir::ProgramPtr &program, const pto::Target &target,
                                  const PyPTOPassObserver &observer = nullptr);

/// The text of such a module with the names and spaces of the public generator: `%c8_index`, `{split = 1}`.
std::string asGeneratorSpells(const std::string &text);

/// The launches of the host program as JSON, with the tensors that each gets, for those who run them one by one
/// (pypto/runtime/dumps.py). Throws as lowerPyPTOProgram, and where the run decides what is launched.
std::string listPyPTOLaunches(mlir::MLIRContext &context, const pypto::ir::ProgramPtr &program,
                              const PyPTOOptions &options = {});

} // namespace pto_mlir

#endif
