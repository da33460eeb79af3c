#ifndef PTO_MLIR_CMODEL_API_H
#define PTO_MLIR_CMODEL_API_H

#include "pto_mlir/Runtime/DeviceABI.h"

namespace pto_mlir::cmodel {

/// The device functions of the level (instruction set of the host) that this code was compiled for.
const pto_device_api *levelApi();

} // namespace pto_mlir::cmodel

#endif
