#include "Insns/Insns.h"

namespace pto_mlir::cmodel {

// No operation: an engine completes each instruction before it starts the next one.
void execute(const isa::Barrier &, Core &) {}

} // namespace pto_mlir::cmodel
