// Serialisation of programs as a FlatBuffers table (lib/ByteCode/ByteCode.fbs).
#ifndef PTO_MLIR_BYTECODE_SERIALIZE_H
#define PTO_MLIR_BYTECODE_SERIALIZE_H

#include "pto_mlir/ByteCode/Module.h"
#include "pto_mlir/Support/Result.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace pto_mlir::bytecode {

/// The module as bytes, for `deserialize`.
std::vector<uint8_t> serialize(const Module &module);

/// Reads the output of `serialize`; safe for untrusted bytes. The module still has to be verified (Program::load).
Result<Module> deserialize(const uint8_t *data, size_t size);

} // namespace pto_mlir::bytecode

#endif
