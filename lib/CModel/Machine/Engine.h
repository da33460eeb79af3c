// One engine of a core: a resumable interpreter of one command stream.
#ifndef PTO_MLIR_CMODEL_ENGINE_H
#define PTO_MLIR_CMODEL_ENGINE_H

#include "pto_mlir/ISA/Operands.h"

#include <cstdint>
#include <vector>

namespace pto_mlir::cmodel {

struct Stream;

/// An active loop of an engine.
struct LoopFrame {
  uint32_t body; // index of the op after the loop instruction
  uint8_t iv;    // register
  int64_t value, ub, step;
};

/// State of one engine: program counter, registers and active loops.
struct Engine {
  enum class State : uint8_t { Running, Blocked, Ended };

  const Stream *stream = nullptr;
  isa::Pipe pipe{};
  State state = State::Running;
  /// The current op; a semantic function may overwrite `next` to jump.
  uint32_t pc = 0, next = 0;
  uint64_t executed = 0;
  int64_t registers[64];
  std::vector<LoopFrame> loops;

  /// Resets the engine to the start of a stream.
  void start(const Stream &s);
  /// Leaves the instruction unexecuted; it is retried when the engine resumes.
  void block() {
    state = State::Blocked;
    next = pc;
  }
};

} // namespace pto_mlir::cmodel

#endif
