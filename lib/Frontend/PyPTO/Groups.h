// Functions of cube and vector cores that run together, and the queues between them.
#ifndef PTO_MLIR_LIB_FRONTEND_PYPTO_GROUPS_H
#define PTO_MLIR_LIB_FRONTEND_PYPTO_GROUPS_H

#include "pypto/ir/function.h"

#include <map>

namespace pto_mlir::pypto_frontend {

/// Words of global memory in front of each queue of a block, by the queue's id, and of all of them. Throws where a
/// queue is no queue.
struct QueueSpace {
  std::map<int64_t, int64_t> offsets;
  int64_t words = 0;
  bool operator==(const QueueSpace &) const = default;
};
QueueSpace queueSpaceOf(const pypto::ir::Function &function);

/// Whether a function raises or awaits events of the block's other cores.
bool hasEvents(const pypto::ir::Function &function);

/// Two functions that one launch runs, with one list of parameters; their directions are those of both.
struct Group {
  pypto::ir::FunctionPtr cube, vector;
  bool hasQueues = false; ///< the last parameter is memory for their queues
};

/// A function of a group as it runs. One that has a split mode says what becomes of whole tiles, and leaves their
/// halves to the compiler: here the first vector core does all of it.
pypto::ir::FunctionPtr withWholeTiles(const pypto::ir::FunctionPtr &function);

/// Throws where the two take other parameters, or other queues. `blocks`: whose tiles go through memory; 0 where they
/// go from core to core.
Group joinFunctions(const pypto::ir::FunctionPtr &cube, const pypto::ir::FunctionPtr &vector, int64_t blocks);

} // namespace pto_mlir::pypto_frontend

#endif
