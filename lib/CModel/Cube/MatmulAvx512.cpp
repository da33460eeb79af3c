// The 16-lane micro-kernel; the only source compiled for AVX-512.
#include "Cube/MatmulKernel.h"

namespace pto_mlir::cmodel {

MatmulKernel matmulKernelAvx512() { return {16, productOfPanels<float, 16>, productOfPanels<int32_t, 16>}; }

} // namespace pto_mlir::cmodel
