#ifndef PTO_MLIR_LIB_RUNTIME_PLUGIN_H
#define PTO_MLIR_LIB_RUNTIME_PLUGIN_H

#include "pto_mlir/Runtime/DeviceABI.h"
#include "pto_mlir/Support/Result.h"

#include <string>

namespace pto_mlir::runtime {

/// Loads the plug-in of a device and checks its ABI. Never unloaded, since a plug-in may own threads.
Result<const pto_device_api *> loadPlugin(const std::string &device);

} // namespace pto_mlir::runtime

#endif
