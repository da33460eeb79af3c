// Execution modes by name.
#ifndef PTO_MLIR_CMODEL_MODES_H
#define PTO_MLIR_CMODEL_MODES_H

#include "Machine/Observer.h"
#include "pto_mlir/ISA/Operands.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace pto_mlir::cmodel {

/// The observer of a mode, null for "functional"; nullopt if there is no such mode.
std::optional<std::unique_ptr<Observer>> makeObserver(std::string_view mode, isa::Arch arch);

/// The list of modes for error messages.
std::string modeNames();

} // namespace pto_mlir::cmodel

#endif
