// Finds encoder libraries and device plug-ins.
#include "pto_mlir/Support/LibrarySearch.h"

#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <link.h>

namespace fs = std::filesystem;

namespace pto_mlir {

// The folder of the executable or extension module that contains this code.
static fs::path ownFolder() {
  Dl_info info;
  link_map *object = nullptr;
  if (!dladdr1(reinterpret_cast<void *>(&ownFolder), &info, reinterpret_cast<void **>(&object), RTLD_DL_LINKMAP) ||
      !object)
    return {};
  // The link map has the path of a shared object, but not of the executable.
  std::error_code error;
  fs::path self = fs::canonical(*object->l_name ? object->l_name : "/proc/self/exe", error);
  return error ? fs::path() : self.parent_path();
}

std::vector<std::string> libraryCandidates(const std::string &file) {
  std::vector<std::string> candidates;
  if (const char *folder = std::getenv("PTO_MLIR_LIB_DIR"); folder && *folder)
    candidates.push_back((fs::path(folder) / file).string());
  // Installed: beside the extension module, above bin/. Build tree: bin/ and unittests/ next to lib/, the Python
  // package two levels down.
  if (fs::path own = ownFolder(); !own.empty())
    for (const char *folder : {".", "..", "../lib", "../../lib"})
      candidates.push_back((own / folder / file).lexically_normal().string());
  return candidates;
}

std::string firstExisting(const std::vector<std::string> &candidates) {
  std::error_code ignored;
  for (const std::string &candidate : candidates)
    if (fs::exists(candidate, ignored))
      return candidate;
  return "";
}

} // namespace pto_mlir
