// A back end: a processor and the operations that it emits as text of its own.
#ifndef PYPTO_BACKEND_COMMON_BACKEND_H
#define PYPTO_BACKEND_COMMON_BACKEND_H

#include "pypto/codegen/codegen_base.h"

#include <functional>
#include <map>

namespace pypto::backend {

/// Emits a call's code through the generator's helpers; what it gives is the result's name, "" for the current target.
using BackendCodegenFunc = std::function<std::string(const ir::CallPtr &op, codegen::CodegenBase &codegen)>;

class Backend {
public:
  /// `processor`: "a3" or "a5"; empty: the default one.
  explicit Backend(std::string processor = "") : processor_(std::move(processor)) {}

  const std::string &GetProcessor() const { return processor_; }
  /// `emit` takes the place of what the table of operations says of `op_name`, of any generation. ValueError for an
  /// operation that is registered already.
  Backend &RegisterOp(const std::string &op_name, BackendCodegenFunc emit);
  /// Null where the table's own lowering holds.
  const BackendCodegenFunc *FindOp(const std::string &op_name) const;

private:
  std::string processor_;
  std::map<std::string, BackendCodegenFunc, std::less<>> ops_; ///< by today's full name
};

} // namespace pypto::backend

#endif // PYPTO_BACKEND_COMMON_BACKEND_H
