//===- Backend.cpp - The processors that code can be generated for --------===//

#include "pto_mlir/Backend/Backend.h"

#include "pto_mlir/ISA/Table.h"
#include "pto_mlir/Support/LibrarySearch.h"

#include <dlfcn.h>

namespace pto_mlir::backend {

namespace {

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
#define PTO_BACKEND_CAST(Struct, mnemonic, code, pipe)                                                                 \
  if (!CAST_FUNCTION(pto_##mnemonic))                                                                                  \
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
    return fail("is not known, the instruction table has " + isa::archNames());
  std::string file = "libpto_encoder_" + name + ".so";
  std::string path = libraryPath.empty() ? firstExisting(libraryCandidates(file)) : libraryPath;
  if (path.empty())
    return fail("encoder library " + file + " is neither in PTO_MLIR_LIB_DIR nor beside the program");
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
