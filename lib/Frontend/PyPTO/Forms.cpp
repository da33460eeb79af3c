// The generated table of forms.
#include "Forms.h"

#include <algorithm>

namespace pto_mlir::pypto_frontend {

bool Form::hasDst() const {
  return std::ranges::any_of(operands, [](const FormOperand &operand) { return operand.role == Role::Dst; });
}

const Form *findForm(std::string_view name) {
  static const std::vector<Form> forms = {
#include "pto_mlir/Frontend/PyPTO/Forms.inc"
  };
  auto found = std::ranges::find(forms, name, &Form::name);
  return found == forms.end() ? nullptr : &*found;
}

} // namespace pto_mlir::pypto_frontend
