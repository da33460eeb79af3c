#include "Insns.h"

namespace pto_mlir::cmodel {

void execute(const isa::Cmp &insn, Core &core) {
  int64_t a = insn.lhs.value, b = insn.rhs.value;
  bool result = false;
  switch (insn.mode) {
  case isa::CompareMode::eq:
    result = a == b;
    break;
  case isa::CompareMode::ne:
    result = a != b;
    break;
  case isa::CompareMode::lt:
    result = a < b;
    break;
  case isa::CompareMode::le:
    result = a <= b;
    break;
  case isa::CompareMode::gt:
    result = a > b;
    break;
  case isa::CompareMode::ge:
    result = a >= b;
    break;
  }
  core.engine().registers[insn.dst] = result;
}

} // namespace pto_mlir::cmodel
