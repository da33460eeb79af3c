//===- Table.cpp - The instruction table as data --------------------------===//

#include "pto_mlir/ISA/Table.h"

namespace pto_mlir::isa {

static constexpr double gib = 1024.0 * 1024 * 1024;

#include "pto_mlir/ISA/Tables.inc"

namespace {
constexpr unsigned kNumOpcodes = 1024;

// opcode -> index in kInsns, plus 1; 0: no row.
constexpr std::array<uint8_t, kNumOpcodes> makeIndex() {
  static_assert(kNumInsns < 255);
  std::array<uint8_t, kNumOpcodes> index{};
  uint8_t next = 0;
#define PTO_ISA_INDEX(Struct, mnemonic, code, pipe) index[code] = ++next;
  ISA_INSNS(PTO_ISA_INDEX)
#undef PTO_ISA_INDEX
  return index;
}
constexpr std::array<uint8_t, kNumOpcodes> kIndex = makeIndex();
} // namespace

Rows<InsnInfo> allInsns() { return kInsns; }

const InsnInfo *findInsn(unsigned opcode) {
  if (opcode >= kNumOpcodes || kIndex[opcode] == 0)
    return nullptr;
  return &kInsns[kIndex[opcode] - 1];
}

const InsnInfo *findInsn(std::string_view mnemonic) {
  for (const InsnInfo &info : kInsns)
    if (mnemonic == info.mnemonic)
      return &info;
  return nullptr;
}

const ArchInfo &archInfo(Arch arch) { return kArchs[size_t(arch)]; }

const ChipInfo &chipInfo(Arch arch) { return kChips[size_t(arch)]; }

Rows<ArchInfo> allArchs() { return kArchs; }

std::string archNames(std::string_view separator) {
  std::string names;
  for (const ArchInfo &info : kArchs)
    names.append(names.empty() ? "" : separator).append(info.name);
  return names;
}

const ArchInfo *findArch(std::string_view name) {
  for (const ArchInfo &info : kArchs)
    if (name == info.name)
      return &info;
  return nullptr;
}

bool hasPipe(CoreKind core, Pipe pipe) {
  return size_t(core) < std::size(kCorePipes) && unsigned(pipe) < 16 &&
         (kCorePipes[size_t(core)] >> unsigned(pipe) & 1);
}

bool hasPipe(const ArchInfo &arch, CoreKind core, Pipe pipe) {
  return hasPipe(core, pipe) && arch.engineOf(pipe) == pipe;
}

} // namespace pto_mlir::isa
