// libpto_cmodel.so: loads the simulator library next to it that is compiled for the newest instruction set of this
// machine. All levels compute the same bits. They are separate libraries because the linker must never pick an inline
// function of the standard library compiled for a newer level.
#include "HostLevel.h"
#include "pto_mlir/Runtime/DeviceABI.h"

#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <string>

namespace {

const pto_device_api *open(const char *level) {
  Dl_info self;
  if (!dladdr(reinterpret_cast<void *>(&open), &self) || !self.dli_fname)
    return nullptr;
  std::string path = self.dli_fname;
  path = path.substr(0, path.find_last_of('/') + 1) + "libpto_cmodel_" + level + ".so";
  // Never closed: the functions stay in use until the process ends.
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  void *entry = library ? dlsym(library, "pto_device_get_api") : nullptr;
  return entry ? reinterpret_cast<const pto_device_api *(*)()>(entry)() : nullptr;
}

const pto_device_api *choose() {
  const char *wanted = std::getenv("PTO_CMODEL_LEVEL"); // "baseline": for comparisons
  if (pto_mlir::cmodel::hostRunsX8664V3() && !(wanted && std::strcmp(wanted, "baseline") == 0))
    if (const pto_device_api *newer = open("x86_64_v3"))
      return newer;
  return open("baseline");
}

} // namespace

extern "C" __attribute__((visibility("default"))) const pto_device_api *pto_device_get_api(void) {
  static const pto_device_api *chosen = choose();
  return chosen;
}
