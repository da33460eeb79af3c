// What a whole function or program must hold to, beside what each node checks by itself.
#ifndef PYPTO_IR_VERIFY_H
#define PYPTO_IR_VERIFY_H

#include "pypto/ir/program.h"

namespace pypto::ir {

/// Each variable is bound once and read only where it is bound; a body's variables end with it. Extents of parameters
/// count as bound. ValueError with function and variable.
void VerifyFunction(const FunctionPtr &function);
/// Every function, and that calls of functions name one of the program with as many arguments.
void VerifyProgram(const ProgramPtr &program);

} // namespace pypto::ir

#endif // PYPTO_IR_VERIFY_H
