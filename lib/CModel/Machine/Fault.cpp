#include "Machine/Fault.h"

namespace pto_mlir::cmodel {

const char *faultKindName(FaultKind kind) {
  switch (kind) {
  case FaultKind::Misaligned:
    return "misaligned";
  case FaultKind::OutOfRange:
    return "out-of-range";
  case FaultKind::IllegalType:
    return "illegal-type";
  case FaultKind::IllegalShape:
    return "illegal-shape";
  case FaultKind::Flag:
    return "flag";
  case FaultKind::Deadlock:
    return "deadlock";
  case FaultKind::ZeroDivisor:
    return "zero-divisor";
  case FaultKind::LoopStep:
    return "loop-step";
  case FaultKind::Race:
    return "race";
  case FaultKind::TaskRace:
    return "task-race";
  case FaultKind::Uninitialised:
    return "uninitialised";
  }
  return "unknown";
}

} // namespace pto_mlir::cmodel
