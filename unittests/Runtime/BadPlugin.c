/* A plug-in of a future ABI, or without the entry, by macro. */
#include "pto_mlir/Runtime/DeviceABI.h"

#ifdef WRONG_ABI
const pto_device_api *pto_device_get_api(void) {
  static pto_device_api api = {PTO_DEVICE_ABI_VERSION + 41, "future"};
  return &api;
}
#else
int some_other_symbol;
#endif
