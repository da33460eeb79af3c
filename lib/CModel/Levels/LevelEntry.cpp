// The entry point of a simulator library compiled for one level of the host instruction set.
#include "Levels/Api.h"

extern "C" __attribute__((visibility("default"))) const pto_device_api *pto_device_get_api(void) {
  return pto_mlir::cmodel::levelApi();
}
