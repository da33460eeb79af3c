// Finds and loads device plug-ins.
#include "Plugin.h"

#include "pto_mlir/Runtime/Device.h"

#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <link.h>
#include <vector>

namespace pto_mlir::runtime {

namespace fs = std::filesystem;

namespace {

/// The folder of the executable or extension module that holds this code.
fs::path ownFolder() {
  Dl_info info;
  link_map *object = nullptr;
  if (!dladdr1(reinterpret_cast<void *>(&ownFolder), &info, reinterpret_cast<void **>(&object), RTLD_DL_LINKMAP) || !object)
    return {};
  // The loader knows the path of a shared object; of the executable it knows only what was typed.
  std::error_code error;
  fs::path self = fs::canonical(*object->l_name ? object->l_name : "/proc/self/exe", error);
  return error ? fs::path() : self.parent_path();
}

} // namespace

std::vector<std::string> pluginCandidates(const std::string &device) {
  if (device.find('/') != std::string::npos)
    return {device};
  std::string file = "libpto_" + device + ".so";
  std::vector<std::string> candidates;
  if (const char *folder = std::getenv("PTO_MLIR_LIB_DIR"); folder && *folder)
    candidates.push_back((fs::path(folder) / file).string());
  // Installed: beside the extension module, above bin/. Build tree: bin/ and unittests/ next to lib/, the Python package two levels down.
  if (fs::path own = ownFolder(); !own.empty())
    for (const char *folder : {".", "..", "../lib", "../../lib"})
      candidates.push_back((own / folder / file).lexically_normal().string());
  return candidates;
}

Result<const pto_device_api *> loadPlugin(const std::string &device) {
  std::string path;
  std::error_code error;
  std::string tried;
  for (const std::string &candidate : pluginCandidates(device)) {
    tried += (tried.empty() ? "" : ", ") + candidate;
    if (path.empty() && fs::exists(candidate, error))
      path = candidate;
  }
  if (path.empty())
    return Failure{"device '" + device + "': no plug-in found (tried " + tried + "); set PTO_MLIR_LIB_DIR to its folder"};
  void *handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char *reason = dlerror();
    return Failure{"device '" + device + "': cannot load " + path + ": " + (reason ? reason : "unknown reason")};
  }
  auto *entry = reinterpret_cast<const pto_device_api *(*)()>(dlsym(handle, "pto_device_get_api"));
  if (!entry)
    return Failure{"device '" + device + "': " + path + " lacks the symbol pto_device_get_api"};
  const pto_device_api *api = entry();
  if (!api || api->abi_version != PTO_DEVICE_ABI_VERSION)
    return Failure{"device '" + device + "': " + path + " has device ABI " + std::to_string(api ? api->abi_version : 0) +
                   ", this runtime needs " + std::to_string(PTO_DEVICE_ABI_VERSION)};
  return api;
}

} // namespace pto_mlir::runtime
