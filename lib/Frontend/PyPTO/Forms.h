// How the ops of the pto dialect take their operands.
#ifndef PTO_MLIR_LIB_FRONTEND_PYPTO_FORMS_H
#define PTO_MLIR_LIB_FRONTEND_PYPTO_FORMS_H

#include <cstdint>
#include <string_view>
#include <vector>

namespace pto_mlir::pypto_frontend {

enum class Role : uint8_t { Input, Dst, Scratch };

struct FormOperand {
  std::string_view name;
  Role role;
  bool optional;
};

/// A pto op by its operands, in its own order.
struct Form {
  std::string_view name; ///< "tadd"
  bool segments;         ///< it needs `operandSegmentSizes`
  bool onVectors;        ///< the vector unit does it
  std::vector<FormOperand> operands;

  bool hasDst() const;
};

/// The form of a pto op that a row of PyPTO's table names, or null.
const Form *findForm(std::string_view name);

} // namespace pto_mlir::pypto_frontend

#endif
