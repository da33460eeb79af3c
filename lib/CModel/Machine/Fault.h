// Errors of a running kernel. A fault is a value returned to the caller; the simulator never aborts.
#ifndef PTO_MLIR_CMODEL_FAULT_H
#define PTO_MLIR_CMODEL_FAULT_H

#include <cstdint>
#include <string>

namespace pto_mlir::cmodel {

enum class FaultKind : uint8_t {
  Misaligned,
  OutOfRange,
  IllegalType,
  IllegalShape,
  Flag,
  Deadlock,
  ZeroDivisor,
  LoopStep,
  Race,
  TaskRace,
  Uninitialised
};

/// The name of a kind as DeviceABI.h reports it ("out-of-range", "deadlock", ...).
const char *faultKindName(FaultKind kind);

/// A fault with its position: engine, block and instruction.
struct Fault {
  FaultKind kind;
  std::string message;
  std::string engine; // "AIV0.1 MTE2"
  uint32_t block = 0;
  uint32_t word = 0; // first word of the instruction in its stream
};

} // namespace pto_mlir::cmodel

#endif
