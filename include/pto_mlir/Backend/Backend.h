//===- Backend.h - The processors for which code can be generated ---------===//
//
// One Backend per process. It holds the loaded processors: encoder library, its functions, the parameters. A loaded
// processor is immutable and never unloaded, so concurrent compilations can share it; mutable state of a compilation is
// in its CodegenContext.
//
//===----------------------------------------------------------------------===//

#ifndef PTO_MLIR_BACKEND_BACKEND_H
#define PTO_MLIR_BACKEND_BACKEND_H

#include "pto_mlir/Backend/EncoderABI.h"

#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace pto_mlir::isa {
struct ArchInfo;
}

namespace pto_mlir::backend {

/// The functions of an encoder library.
struct EncoderFunctions {
#define PTO_BACKEND_DECLARE(Struct, mnemonic, code, pipe)                                                              \
  using pto_##mnemonic = int (*)(PtoEncodeContext *, const isa::Struct *, CMD_ID_NODE *);                              \
  pto_##mnemonic dl_pto_##mnemonic = nullptr;
  ISA_INSNS(PTO_BACKEND_DECLARE)
#undef PTO_BACKEND_DECLARE
  using pto_sync_all = int (*)(PtoEncodeContext *, CMD_ID_NODE *);
  pto_sync_all dl_pto_sync_all = nullptr;
  using pto_encoder_abi_version = uint32_t (*)();
  pto_encoder_abi_version dl_pto_encoder_abi_version = nullptr;
  using pto_encoder_processor = const char *(*)();
  pto_encoder_processor dl_pto_encoder_processor = nullptr;
};

/// Calls the library's function that encodes this kind of instruction.
#define PTO_BACKEND_CALL(Struct, mnemonic, code, pipe)                                                                 \
  inline int callEncoder(const EncoderFunctions &f, PtoEncodeContext *context, const isa::Struct &params,              \
                         CMD_ID_NODE *node) {                                                                          \
    return f.dl_pto_##mnemonic(context, &params, node);                                                                \
  }
ISA_INSNS(PTO_BACKEND_CALL)
#undef PTO_BACKEND_CALL

/// A processor with its loaded encoder library.
struct Processor {
  std::string name;
  std::string libraryPath;
  const isa::ArchInfo *arch;
  EncoderFunctions functions;
};

/// A processor, or an error message.
struct LoadResult {
  const Processor *processor = nullptr;
  std::string error;
};

/// The registry of loaded processors.
class Backend {
public:
  static Backend &instance();

  /// Loads the encoder of a processor, once; later calls return the same object. Without `libraryPath` the
  /// library libpto_encoder_<processor>.so is looked for in $PTO_MLIR_LIB_DIR, then around this binary
  /// (libraryCandidates). A missing library, a missing function, or a library built from another instruction table is
  /// an error that names it.
  LoadResult load(const std::string &processor, const std::string &libraryPath = "");

private:
  Backend() = default;
  std::mutex mutex;
  std::map<std::string, std::unique_ptr<const Processor>> processors; // by name and path
};

} // namespace pto_mlir::backend

#endif
