// Finds and loads device plug-ins.
#include "Plugin.h"

#include "pto_mlir/Runtime/Device.h"
#include "pto_mlir/Support/LibrarySearch.h"

#include <dlfcn.h>
#include <vector>

namespace pto_mlir::runtime {

std::vector<std::string> pluginCandidates(const std::string &device) {
  if (device.find('/') != std::string::npos)
    return {device};
  return libraryCandidates("libpto_" + device + ".so");
}

static std::string join(const std::vector<std::string> &words) {
  std::string text;
  for (const std::string &word : words)
    text += (text.empty() ? "" : ", ") + word;
  return text;
}

Result<const pto_device_api *> loadPlugin(const std::string &device) {
  std::vector<std::string> candidates = pluginCandidates(device);
  std::string path = firstExisting(candidates);
  if (path.empty())
    return Failure{"device '" + device + "': no plug-in found (tried " + join(candidates) +
                   "); set PTO_MLIR_LIB_DIR to its folder"};
  void *handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char *reason = dlerror();
    return Failure{"device '" + device + "': cannot load " + path + ": " + (reason ? reason : "unknown reason")};
  }
  auto *entry = reinterpret_cast<const pto_device_api *(*)()>(dlsym(handle, "pto_device_get_api"));
  if (!entry)
    return Failure{"device '" + device + "': " + path + " lacks the symbol pto_device_get_api"};
  const pto_device_api *api = entry();
  if (!api)
    return Failure{"device '" + device + "': " + path +
                   " offers no device that runs on this machine; is its folder complete?"};
  if (api->abi_version != PTO_DEVICE_ABI_VERSION)
    return Failure{"device '" + device + "': " + path + " has device ABI " + std::to_string(api->abi_version) +
                   ", this runtime needs " + std::to_string(PTO_DEVICE_ABI_VERSION)};
  return api;
}

} // namespace pto_mlir::runtime
