// Short ways to build IR in tests.
#ifndef PTO_UNITTESTS_PYPTO_BUILD_H
#define PTO_UNITTESTS_PYPTO_BUILD_H

#include "pypto/core/error.h"
#include "pypto/ir/program.h"

#include <gtest/gtest.h>

namespace pypto::ir {

inline ExprPtr index(int64_t value) {
  return std::make_shared<const ConstInt>(value, DataType::INDEX, Span::unknown());
}
inline TypePtr scalar(DataType dtype) { return std::make_shared<const ScalarType>(dtype); }
inline TypePtr tile(std::vector<int64_t> shape, DataType dtype = DataType::FP32) {
  return std::make_shared<const TileType>(shape, dtype);
}
inline TypePtr tensor(std::vector<int64_t> shape, DataType dtype = DataType::FP32) {
  return std::make_shared<const TensorType>(shape, dtype);
}
inline VarPtr var(std::string name, TypePtr type = scalar(DataType::INDEX)) {
  return std::make_shared<const Var>(std::move(name), std::move(type), Span::unknown());
}
inline IterArgPtr carried(std::string name, ExprPtr init) {
  return std::make_shared<const IterArg>(std::move(name), init->type_, init, Span::unknown());
}
inline ExprPtr add(ExprPtr left, ExprPtr right) {
  return std::make_shared<const Add>(std::move(left), std::move(right), DataType::INDEX, Span::unknown());
}
inline ExprPtr less(ExprPtr left, ExprPtr right) {
  return std::make_shared<const Lt>(std::move(left), std::move(right), DataType::BOOL, Span::unknown());
}
inline ExprPtr call(std::string name, std::vector<ExprPtr> args, Attrs kwargs = {}, TypePtr type = nullptr) {
  return std::make_shared<const Call>(std::make_shared<const Op>(std::move(name)), std::move(args), std::move(kwargs),
                                      std::move(type), Span::unknown());
}
inline StmtPtr assign(VarPtr target, ExprPtr value) {
  return std::make_shared<const AssignStmt>(std::move(target), std::move(value), Span::unknown());
}
inline StmtPtr sequence(std::vector<StmtPtr> stmts) {
  return std::make_shared<const SeqStmts>(std::move(stmts), Span::unknown());
}
inline StmtPtr yield(std::vector<ExprPtr> values) {
  return std::make_shared<const YieldStmt>(std::move(values), Span::unknown());
}
inline StmtPtr giveBack(std::vector<ExprPtr> values) {
  return std::make_shared<const ReturnStmt>(std::move(values), Span::unknown());
}
inline FunctionPtr function(std::string name, std::vector<VarPtr> params, StmtPtr body) {
  return std::make_shared<const Function>(std::move(name), std::move(params), std::vector<TypePtr>(), std::move(body),
                                          Span::unknown());
}
inline ProgramPtr program(std::vector<FunctionPtr> functions, std::string name = "P") {
  return std::make_shared<const Program>(std::move(functions), std::move(name), Span::unknown());
}

/// sum(n): total = 0; for i in range(0, n, 1): total = total + i; `while total < n: total + step`; return the total.
/// Names and the step vary so that tests can tell what counts.
inline FunctionPtr sumFunction(const std::string &prefix, int64_t step = 1) {
  VarPtr n = var(prefix + "n"), i = var(prefix + "i"), total = var(prefix + "total"), last = var(prefix + "last");
  IterArgPtr sum = carried(prefix + "sum", index(0));
  StmtPtr loop = std::make_shared<const ForStmt>(i, index(0), n, index(1), std::vector<IterArgPtr>{sum},
                                                 yield({add(sum, i)}), std::vector<VarPtr>{total}, Span::unknown());
  IterArgPtr more = carried(prefix + "more", total);
  StmtPtr again =
      std::make_shared<const WhileStmt>(less(more, n), std::vector<IterArgPtr>{more}, yield({add(more, index(step))}),
                                        std::vector<VarPtr>{last}, Span::unknown());
  return function("sum", {n}, sequence({loop, again, giveBack({last})}));
}

/// The message of the `E` that `body` throws; a failed test when it throws none.
template <class E, class F> std::string messageOf(F &&body) {
  try {
    body();
  } catch (const E &error) {
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

} // namespace pypto::ir

#endif // PTO_UNITTESTS_PYPTO_BUILD_H
