#include "Insns/Insns.h"

namespace pto_mlir::cmodel {

// An engine finishes each instruction before the next one starts, so its pipe is always drained.
void execute(const isa::Barrier &, Core &) {}

} // namespace pto_mlir::cmodel
