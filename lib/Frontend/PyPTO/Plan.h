// How launches pass tensors to a kernel: what an orchestrator decides about it.
#ifndef PTO_MLIR_LIB_FRONTEND_PYPTO_PLAN_H
#define PTO_MLIR_LIB_FRONTEND_PYPTO_PLAN_H

#include "pypto/ir/function.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace pto_mlir::pypto_frontend {

/// A tensor parameter: `offset` elements behind one of the kernel's pointers. Tensors of one buffer share a pointer, so
/// that accesses of a kernel to one buffer are ordered.
struct PlannedTensor {
  pypto::ir::VarPtr var;
  unsigned pointer = 0;
  int64_t offset = 0;
  /// Elements; empty where they are row-major. Nothing for a stride that each launch gives.
  std::vector<std::optional<int64_t>> strides;
  int64_t pitch = 0;  ///< elements between the copies of two ranks behind the pointer; 0: there is one
  unsigned group = 0; ///< of the devices that have a copy: which of the kernel's groups
};

/// A kernel for launches that pass its tensors in one way. Its arguments are the pointers, then the scalars; in a
/// launch of blocks then the number of the block and how many they are; with windows then its rank in each group; then
/// the extents and strides that each launch gives.
struct PlannedKernel {
  std::string name;
  pypto::ir::FunctionPtr function;
  std::vector<PlannedTensor> tensors; ///< one per tensor parameter, in order
  unsigned pointers = 0;
  bool isBlock = false;
  std::map<const pypto::ir::Var *, int64_t> symbols = {}; ///< extents that the function leaves open, but not the kernel
  std::vector<const pypto::ir::Var *> open = {};          ///< extents that each launch gives
  std::vector<int64_t> groups = {};                       ///< devices that share windows: how many ranks each group has
  std::map<std::string, std::string> peers = {}; ///< functions of the task by name: what their kernels are called

  /// Whether the last tensor is memory for the queues of the task.
  bool hasQueues = false;
};

/// Which of `function`'s tensor parameters each tensor variable is, as results of stores are the tensor itself.
using TensorRoots = std::map<const pypto::ir::Var *, const pypto::ir::Var *>;
TensorRoots tensorRoots(const pypto::ir::StmtPtr &body);
/// The same, and of views which tensor they are parts of.
TensorRoots viewRoots(const pypto::ir::StmtPtr &body);
/// The tensors that a body stores to, by their first variable.
std::set<const pypto::ir::Var *> writtenTensors(const pypto::ir::StmtPtr &body);
/// The tensors that a body reads elements of, by their first variable.
std::set<const pypto::ir::Var *> readTensors(const pypto::ir::StmtPtr &body);
/// Those of which some elements become something of what they were, by one operation (an atomic addition, a signal).
std::set<const pypto::ir::Var *> updatedTensors(const pypto::ir::StmtPtr &body);
/// The first variable of a chain of results.
const pypto::ir::Var *rootOf(const TensorRoots &roots, const pypto::ir::Var *var);

/// Variables that a body reads and does not bind, in the order of their first use.
std::vector<pypto::ir::VarPtr> freeVariables(const pypto::ir::StmtPtr &body);
/// Variables that a scope of `whole` binds and that are read outside of it, in the order of their binding; the tensors
/// among them.
std::vector<pypto::ir::VarPtr> escapingVariables(const pypto::ir::StmtPtr &scope, const pypto::ir::StmtPtr &whole);
std::vector<pypto::ir::VarPtr> escapingTensors(const pypto::ir::StmtPtr &scope, const pypto::ir::StmtPtr &whole);

} // namespace pto_mlir::pypto_frontend

#endif
