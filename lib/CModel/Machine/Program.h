// A kernel as the simulator keeps it: every stream decoded once, loop ends matched and jumps resolved.
#ifndef PTO_MLIR_CMODEL_PROGRAM_H
#define PTO_MLIR_CMODEL_PROGRAM_H

#include "pto_mlir/ISA/Codec.h"
#include "pto_mlir/Runtime/DeviceABI.h"

#include <string>
#include <vector>

namespace pto_mlir::cmodel {

class Core;
using Handler = void (*)(const isa::DecodedInsn &insn, Core &core);

struct Op {
  Handler run = nullptr;
  uint32_t word = 0;   // first word in the stream
  uint32_t target = 0; // loop, break_if_zero: op behind the matching end; skip_if_zero: op that is jumped to
  isa::DecodedInsn insn;
};

struct Stream {
  isa::CoreKind kind{};
  isa::Pipe pipe{};
  std::vector<Op> ops;
};

/// Which cores of a launch raise flags on each other, so that they must run together.
enum class Together : uint8_t { None, Block, Launch };

struct Kernel {
  std::string name;
  unsigned numArgs = 0;
  std::vector<Stream> streams;
  /// It adds to global memory: blocks run one after the other, so that the order of additions does not depend on
  /// threads.
  bool ordered = false;
  Together together = Together::None;
  /// It moves tiles to the memories of other cores of the block.
  bool writesPeers = false;
  pto_profile profile{};
  /// Seconds that the cores of the last launch worked, all together; negative before the first.
  double lastCoreSeconds = -1.0;

  bool uses(isa::CoreKind kind) const;
  uint32_t coresPerBlock() const { return uint32_t(uses(isa::CoreKind::AIC)) + 2 * uint32_t(uses(isa::CoreKind::AIV)); }
};

/// Verifies and decodes a kernel. Returns what is wrong with it (stream, word, reason), or an empty string.
std::string buildKernel(const pto_kernel_desc &desc, isa::Arch arch, Kernel &kernel);

/// The function that executes an opcode.
Handler handlerOf(isa::Opcode opcode);

} // namespace pto_mlir::cmodel

#endif
