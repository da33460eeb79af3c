#ifndef PTO_MLIR_CMODEL_API_H
#define PTO_MLIR_CMODEL_API_H

#include "pto_mlir/Runtime/DeviceABI.h"

namespace pto_mlir::cmodel {

/// The device functions compiled for this level of the host instruction set.
const pto_device_api *levelApi();

} // namespace pto_mlir::cmodel

#endif
