//===- Backend.cpp - The processors that code can be generated for --------===//

#include "pto_mlir/Backend/Backend.h"

#include "pto_mlir/ISA/Table.h"

#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <vector>

namespace fs = std::filesystem;

namespace pto_mlir::backend {

namespace {

// Folders that may hold encoder libraries, first match wins.
std::vector<fs::path> searchFolders() {
  std::vector<fs::path> folders;
  std::error_code ignored;
  auto beside = [&](const fs::path &file) {
    fs::path folder = file.parent_path();
    folders.push_back(folder);
    folders.push_back(folder / ".." / "lib");
    folders.push_back(folder / "..");                // an installed package: programs in bin/, libraries above
    folders.push_back(folder / ".." / ".." / "lib"); // the build tree's package
  };
  fs::path program = fs::read_symlink("/proc/self/exe", ignored);
  if (!ignored)
    beside(program);
  Dl_info self;
  if (dladdr(reinterpret_cast<void *>(&Backend::instance), &self) && self.dli_fname)
    beside(fs::absolute(self.dli_fname, ignored));
  if (const char *folder = std::getenv("PTO_MLIR_LIB_DIR"))
    folders.push_back(folder);
  return folders;
}

std::string findLibrary(const std::string &file) {
  std::error_code ignored;
  for (const fs::path &folder : searchFolders())
    if (fs::exists(folder / file, ignored))
      return (folder / file).string();
  return "";
}

// Points `slot` at the library's function `name`; false, and the name in `missing`, when there is none.
template <class F> bool castFunction(void *library, const char *name, F &slot, std::string &missing) {
  slot = reinterpret_cast<F>(dlsym(library, name));
  if (!slot)
    missing = name;
  return slot != nullptr;
}

} // namespace

#define CAST_FUNCTION(name) castFunction(library, #name, functions.dl_##name, missing)

// Resolves every function by its name.
static bool loadFunctions(void *library, EncoderFunctions &functions, std::string &missing) {
  if (!CAST_FUNCTION(pto_encoder_abi_version) || !CAST_FUNCTION(pto_encoder_processor) || !CAST_FUNCTION(pto_sync_all))
    return false;
#define PTO_BACKEND_CAST(Struct, mnemonic, code, pipe)                                                                                       \
  if (!CAST_FUNCTION(pto_##mnemonic))                                                                                                        \
    return false;
  ISA_INSNS(PTO_BACKEND_CAST)
#undef PTO_BACKEND_CAST
  return true;
}

Backend &Backend::instance() {
  static Backend backend;
  return backend;
}

LoadResult Backend::load(const std::string &name, const std::string &libraryPath) {
  std::lock_guard<std::mutex> lock(mutex);
  std::string key = name + "\n" + libraryPath;
  if (auto it = processors.find(key); it != processors.end())
    return {it->second.get(), ""};

  auto fail = [&](const std::string &what) { return LoadResult{nullptr, "processor '" + name + "': " + what}; };
  const isa::ArchInfo *arch = isa::findArch(name);
  if (!arch)
    return fail("is not known, the instruction table has a3 and a5");
  std::string file = "libpto_encoder_" + name + ".so";
  std::string path = libraryPath.empty() ? findLibrary(file) : libraryPath;
  if (path.empty())
    return fail("encoder library " + file + " is neither beside the program nor in PTO_MLIR_LIB_DIR");
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return fail("cannot load encoder library: " + std::string(dlerror()));

  auto processor = std::make_unique<Processor>();
  processor->name = name;
  processor->libraryPath = path;
  processor->arch = arch;
  std::string missing;
  std::string error;
  if (!loadFunctions(library, processor->functions, missing))
    error = "encoder library " + path + " lacks the function " + missing;
  else if (processor->functions.dl_pto_encoder_abi_version() != kEncoderABIVersion)
    error = "encoder library " + path + " was built from another instruction table";
  else if (name != processor->functions.dl_pto_encoder_processor())
    error = "encoder library " + path + " is for processor '" + processor->functions.dl_pto_encoder_processor() + "'";
  if (!error.empty()) {
    dlclose(library);
    return fail(error);
  }
  return {(processors[key] = std::move(processor)).get(), ""};
}

} // namespace pto_mlir::backend
