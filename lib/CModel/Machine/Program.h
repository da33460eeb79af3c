// A kernel in decoded form: loop ends are matched and jump targets resolved.
#ifndef PTO_MLIR_CMODEL_PROGRAM_H
#define PTO_MLIR_CMODEL_PROGRAM_H

#include "pto_mlir/ISA/Codec.h"
#include "pto_mlir/Runtime/DeviceABI.h"

#include <string>
#include <vector>

namespace pto_mlir::cmodel {

class Core;
using Handler = void (*)(const isa::DecodedInsn &insn, Core &core);

/// A decoded instruction with its semantic function.
struct Op {
  Handler run = nullptr;
  uint32_t word = 0;   // first word in the stream
  uint32_t target = 0; // loop, break_if_zero: op after the matching end; skip_if_zero: jump target
  isa::DecodedInsn insn;
};

/// The commands of one engine.
struct Stream {
  isa::CoreKind kind{};
  isa::Pipe pipe{};
  std::vector<Op> ops;
};

/// The cores of a launch that exchange flags and therefore must run together.
enum class Together : uint8_t { None, Block, Launch };

/// A loaded kernel.
struct Kernel {
  std::string name;
  unsigned numArgs = 0;
  std::vector<Stream> streams;
  /// The kernel adds to global memory: blocks run in order, so that the order of additions does not depend on threads.
  bool ordered = false;
  Together together = Together::None;
  /// The kernel writes to memories of other cores of the block.
  bool writesPeers = false;
  pto_profile profile{};
  /// Host seconds of all cores of the last launch, summed; negative before the first.
  double lastCoreSeconds = -1.0;

  bool uses(isa::CoreKind kind) const;
  uint32_t coresPerBlock() const { return uint32_t(uses(isa::CoreKind::AIC)) + 2 * uint32_t(uses(isa::CoreKind::AIV)); }
};

/// Verifies and decodes a kernel. Returns an error message (stream, word, reason), or an empty string.
std::string buildKernel(const pto_kernel_desc &desc, isa::Arch arch, Kernel &kernel);

/// The semantic function of an opcode.
Handler handlerOf(isa::Opcode opcode);

} // namespace pto_mlir::cmodel

#endif
