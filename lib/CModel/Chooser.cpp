// The entry of libpto_cmodel.so. It holds the simulator for any host; a library beside it holds the same sources compiled for newer ones
// and is taken where the processor allows. All levels compute the same bits. Separate libraries, because inline functions of the
// standard library compiled for the newer level must never be picked by the linker for the older one.
#include "Api.h"

#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <string>

namespace {

const pto_device_api *choose() {
#if defined(__x86_64__)
  const char *wanted = std::getenv("PTO_CMODEL_LEVEL"); // "baseline": for comparisons
  bool newer = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c") &&
               __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("lzcnt") &&
               __builtin_cpu_supports("movbe");
  Dl_info self;
  if (newer && !(wanted && std::strcmp(wanted, "baseline") == 0) && dladdr(reinterpret_cast<void *>(&choose), &self) && self.dli_fname) {
    std::string path = self.dli_fname;
    path.replace(path.find_last_of('/') + 1, std::string::npos, "libpto_cmodel_x86_64_v3.so");
    // Never closed: the functions stay in use until the process ends.
    if (void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL))
      if (void *entry = dlsym(library, "pto_device_get_api"))
        return reinterpret_cast<const pto_device_api *(*)()>(entry)();
  }
#endif
  return pto_mlir::cmodel::levelApi();
}

} // namespace

extern "C" __attribute__((visibility("default"))) const pto_device_api *pto_device_get_api(void) {
  static const pto_device_api *chosen = choose();
  return chosen;
}
