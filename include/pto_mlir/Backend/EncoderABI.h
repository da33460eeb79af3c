//===- EncoderABI.h - The interface of encoder libraries ------------------===//
//
// An encoder library (libpto_encoder_<processor>.so) exports one function per row of the instruction table,
//
//   int pto_tadd(PtoEncodeContext *context, const pto_mlir::isa::TAdd *params, CMD_ID_NODE *node);
//
// which encodes an instruction to command words and passes them to the context's `store_cmd`. Calling convention and
// names are C's; the parameter structs are those of pto_mlir/ISA/Insns.h. `pto_encoder_abi_version` is checked to
// ensure that both sides were built from the same table.
//
//===----------------------------------------------------------------------===//

#ifndef PTO_MLIR_BACKEND_ENCODERABI_H
#define PTO_MLIR_BACKEND_ENCODERABI_H

#include "pto_mlir/ISA/Insns.h"

#include <cstddef>
#include <cstdint>

extern "C" {

/// Engine ids of `store_cmd`. A real engine is core kind << 4 | pipe.
enum PtoEngine {
  PTO_ENGINE_AIC = 0x00,      ///< + pipe
  PTO_ENGINE_AIV = 0x10,      ///< + pipe
  PTO_ENGINE_VDMA_AIC = 0x40, ///< virtual: maps to MTE2 of the cube core
  PTO_ENGINE_VDMA_AIV = 0x41, ///< virtual: maps to MTE2 of the vector core
  PTO_ENGINE_CDMA = 0x50      ///< cross-device; the only one with ports
};
enum { PTO_NUM_ENGINE_IDS = 0x60, PTO_NUM_CDMA_PORTS = 8 };

/// Number of commands stored per engine id (CDMA: summed over ports).
struct CMD_ID_NODE {
  uint32_t cmd_id[PTO_NUM_ENGINE_IDS];
};

/// The context passed to every encode function.
struct PtoEncodeContext {
  void *user;
  /// Stores one command of `num_words` words. Returns non-zero when rejected, with `error` of this context set.
  int (*store_cmd)(void *user, int engine_id, const uint32_t *cmd, size_t num_words, CMD_ID_NODE *node, int port);
  /// The current stream, which receives instructions supported by every engine (scalar, flags).
  uint32_t core_kind;
  uint32_t pipe;
  /// The error message after a function returned non-zero.
  char error[256];
};

} // extern "C"

namespace pto_mlir::backend {
/// The value of `pto_encoder_abi_version` of a compatible library: depends on the table and the version of this header.
inline constexpr uint32_t kEncoderABIVersion = isa::kTableVersion ^ 1u;
} // namespace pto_mlir::backend

#endif
