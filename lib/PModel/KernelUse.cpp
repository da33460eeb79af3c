#include "pto_mlir/PModel/KernelUse.h"

#include "pto_mlir/ISA/OperandVisitor.h"

#include <algorithm>

namespace pto_mlir::pmodel {

namespace {

/// Marks the arguments accessed by an instruction's views.
struct ViewMarker : isa::OperandVisitor {
  KernelUse &use;
  const isa::InsnInfo &info;
  bool adds;

  void view(unsigned operand, isa::View &v) {
    isa::Direction direction = info.operands[operand].direction;
    use.arguments[v.arg].read |= direction != isa::Direction::Out || adds;
    use.arguments[v.arg].written |= direction != isa::Direction::In;
  }
};

} // namespace

KernelUse kernelUse(const KernelDesc &kernel) {
  KernelUse use;
  use.arguments.resize(kernel.numArgs);
  for (const StreamDesc &stream : kernel.streams) {
    (stream.coreKind == CoreKind::AIC ? use.cube : use.vector) = true;
    for (size_t at = 0; at < stream.words.size();) {
      isa::DecodedInsn insn;
      if (isa::decode(stream.words.data() + at, stream.words.size() - at, insn))
        break;
      bool adds = isa::addsToGlobal(insn);
      use.ordered |= adds;
      if (insn.opcode == isa::Opcode::Get)
        if (auto what = uint32_t(insn.as<isa::Get>().what); what >= isa::kNumQueries)
          use.scalars = std::max(use.scalars, what - isa::kNumQueries + 1);
      ViewMarker marker{{}, use, isa::infoOf(insn.opcode), adds};
      isa::visit(insn, [&](auto &typed) { isa::visitOperands(typed, marker); });
      at += insn.numWords;
    }
  }
  return use;
}

} // namespace pto_mlir::pmodel
