// Short ways to write kernels in tests.
#ifndef PTO_UNITTESTS_FRONTEND_KERNELS_H
#define PTO_UNITTESTS_FRONTEND_KERNELS_H

#include "../PyPTO/Build.h"

#include "pypto/ir/op_registry.h"

namespace pypto::ir {

inline ExprPtr op(const std::string &name, Attrs arguments) {
  return CreateOp(name, std::move(arguments), Span::unknown());
}
inline StmtPtr eval(ExprPtr expr) { return std::make_shared<const EvalStmt>(std::move(expr), Span::unknown()); }
inline VarPtr let(std::vector<StmtPtr> &body, const std::string &name, const ExprPtr &value, TypePtr type = nullptr) {
  VarPtr result = var(name, type ? type : value->type_);
  body.push_back(assign(result, value));
  return result;
}
inline ExprPtr pair(int64_t a, int64_t b) {
  return std::make_shared<const MakeTuple>(std::vector<ExprPtr>{index(a), index(b)}, Span::unknown());
}
inline ExprPtr load(const VarPtr &from, int64_t rows = 32, int64_t cols = 32) {
  return op("block.load", {{"", ExprPtr(from)}, {"", pair(0, 0)}, {"", pair(rows, cols)}});
}
/// The seed's order: tile, offsets, shapes, tensor.
inline StmtPtr store(const VarPtr &tile, const VarPtr &to, int64_t rows = 32, int64_t cols = 32) {
  return eval(op("block.store", {{"", ExprPtr(tile)}, {"", pair(0, 0)}, {"", pair(rows, cols)}, {"", ExprPtr(to)}}));
}

} // namespace pypto::ir

#endif // PTO_UNITTESTS_FRONTEND_KERNELS_H
