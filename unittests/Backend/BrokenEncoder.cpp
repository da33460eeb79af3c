// Encoder libraries that the Backend must reject.
#include "pto_mlir/Backend/EncoderABI.h"

using namespace pto_mlir;

extern "C" {
const char *pto_encoder_processor() { return "a3"; }
int pto_sync_all(PtoEncodeContext *, CMD_ID_NODE *) { return 0; }
uint32_t pto_encoder_abi_version() { return backend::kEncoderABIVersion + 1; }
#ifdef ALL_FUNCTIONS
#define DEFINE(Struct, mnemonic, code, pipe)                                                                           \
  int pto_##mnemonic(PtoEncodeContext *, const isa::Struct *, CMD_ID_NODE *) { return 0; }
ISA_INSNS(DEFINE)
#endif
}
