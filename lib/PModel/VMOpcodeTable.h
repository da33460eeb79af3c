// The rows of VMOpcodes.def as data.
#ifndef PTO_MLIR_LIB_PMODEL_VMOPCODETABLE_H
#define PTO_MLIR_LIB_PMODEL_VMOPCODETABLE_H

#include <cstdint>
#include <string_view>

namespace pto_mlir::pmodel {

struct VMOpcodeRow {
  uint8_t code;
  std::string_view mnemonic;
  std::string_view operands;
};

inline constexpr VMOpcodeRow vmOpcodeRows[] = {
#define PTO_VM_OPCODE(NAME, CODE, MNEMONIC, OPERANDS) {CODE, MNEMONIC, OPERANDS},
#include "pto_mlir/PModel/VMOpcodes.def"
#undef PTO_VM_OPCODE
};

inline const VMOpcodeRow *findVMOpcode(uint8_t code) {
  for (const VMOpcodeRow &row : vmOpcodeRows)
    if (row.code == code)
      return &row;
  return nullptr;
}

} // namespace pto_mlir::pmodel

#endif
