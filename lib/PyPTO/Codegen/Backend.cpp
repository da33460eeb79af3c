// Operations that a back end emits as text of its own.
#include "pypto/backend/common/backend.h"
#include "pypto/core/error.h"
#include "pypto/ir/op_registry.h"

namespace pypto::backend {

static std::string todaysName(const std::string &op_name) {
  const ir::OpRow *row = ir::FindOp(op_name);
  return row ? std::string(row->name) : op_name;
}

Backend &Backend::RegisterOp(const std::string &op_name, BackendCodegenFunc emit) {
  CHECK(emit) << "operation " << op_name << " needs a function that emits it";
  CHECK(ops_.emplace(todaysName(op_name), std::move(emit)).second)
      << "operation " << op_name << " is registered already";
  return *this;
}

const BackendCodegenFunc *Backend::FindOp(const std::string &op_name) const {
  auto found = ops_.find(todaysName(op_name));
  return found == ops_.end() ? nullptr : &found->second;
}

} // namespace pypto::backend
