// A program: functions by name.
#ifndef PYPTO_IR_PROGRAM_H
#define PYPTO_IR_PROGRAM_H

#include "pypto/ir/function.h"

namespace pypto::ir {

class Program final : public IRNode {
public:
  std::vector<FunctionPtr> functions_; ///< in order; names differ
  std::string name_;

  Program(std::vector<FunctionPtr> functions, std::string name, Span span);

  /// The function of that name, or null.
  FunctionPtr GetFunction(std::string_view name) const;

  template <class F> static void Fields(F &&f) {
    f("functions", &Program::functions_, kPlain);
    f("name", &Program::name_, kNote | kOptional);
  }
  PYPTO_NODE(Program, IRNode)
  void Finish();
};

/// The functions of a program in the order of their names.
std::vector<FunctionPtr> FunctionsByName(const Program &program);

} // namespace pypto::ir

#endif // PYPTO_IR_PROGRAM_H
