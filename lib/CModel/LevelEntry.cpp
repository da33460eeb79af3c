// The entry of a library that was compiled for a newer host, such as libpto_cmodel_x86_64_v3.so.
#include "Api.h"

extern "C" __attribute__((visibility("default"))) const pto_device_api *pto_device_get_api(void) { return pto_mlir::cmodel::levelApi(); }
