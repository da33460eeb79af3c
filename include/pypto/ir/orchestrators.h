// Which functions submit kernels.
#ifndef PYPTO_IR_ORCHESTRATORS_H
#define PYPTO_IR_ORCHESTRATORS_H

#include "pypto/ir/program.h"

namespace pypto::ir {

/// The program with each Opaque function that holds a scope or calls a function as an Orchestration; the same program
/// where there is none, or where one is marked as Orchestration already.
ProgramPtr WithOrchestrators(const ProgramPtr &program);

} // namespace pypto::ir

#endif // PYPTO_IR_ORCHESTRATORS_H
