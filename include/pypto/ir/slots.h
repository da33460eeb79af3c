// Allocations whose slots take turns, as one region of the assembler.
#ifndef PYPTO_IR_SLOTS_H
#define PYPTO_IR_SLOTS_H

#include "pypto/ir/program.h"

namespace pypto::ir {

/// Refuses slots that `pto.alloc_multi_tile` cannot hold, or whose turns the assembler would not guard. ValueError with
/// the place of the first such tile.
void CheckSlotRegions(const ProgramPtr &program);

} // namespace pypto::ir

#endif // PYPTO_IR_SLOTS_H
