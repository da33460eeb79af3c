//===- EncoderABI.h - Between code generation and an encoder library ------===//
//
// An encoder library (libpto_encoder_<processor>.so) exports one function per row of the instruction table,
//
//   int pto_tadd(PtoEncodeContext *context, const pto_mlir::isa::TAdd *params, CMD_ID_NODE *node);
//
// which turns an instruction into command words and hands them to the context's `store_cmd`. Calling convention and
// names are C's; the parameter structs are those of pto_mlir/ISA/Insns.h, and `pto_encoder_abi_version` tells whether
// both sides were built from the same table.
//
//===----------------------------------------------------------------------===//

#ifndef PTO_MLIR_BACKEND_ENCODERABI_H
#define PTO_MLIR_BACKEND_ENCODERABI_H

#include "pto_mlir/ISA/Insns.h"

#include <cstddef>
#include <cstdint>

extern "C" {

/// Engines as `store_cmd` sees them. A real engine is core kind << 4 | pipe.
enum PtoEngine {
  PTO_ENGINE_AIC = 0x00,      ///< + pipe
  PTO_ENGINE_AIV = 0x10,      ///< + pipe
  PTO_ENGINE_VDMA_AIC = 0x40, ///< virtual: folds to MTE2 of the cube core
  PTO_ENGINE_VDMA_AIV = 0x41, ///< virtual: folds to MTE2 of the vector core
  PTO_ENGINE_CDMA = 0x50      ///< cross-device; the only one with ports
};
enum { PTO_NUM_ENGINE_IDS = 0x60, PTO_NUM_CDMA_PORTS = 8 };

/// How many commands each engine has been given, by engine id (CDMA: all ports together).
struct CMD_ID_NODE {
  uint32_t cmd_id[PTO_NUM_ENGINE_IDS];
};

struct PtoEncodeContext {
  void *user;
  /// Takes one command of `num_words` words. Not 0: refused, `error` of this context is filled.
  int (*store_cmd)(void *user, int engine_id, const uint32_t *cmd, size_t num_words, CMD_ID_NODE *node, int port);
  /// The stream that is being written: where instructions of every engine (scalar, flags) go.
  uint32_t core_kind;
  uint32_t pipe;
  /// What went wrong when a function returned something other than 0.
  char error[256];
};

} // extern "C"

namespace pto_mlir::backend {
/// What `pto_encoder_abi_version` of a fitting library returns: changes with the table and with this header.
inline constexpr uint32_t kEncoderABIVersion = isa::kTableVersion ^ 1u;
} // namespace pto_mlir::backend

#endif
