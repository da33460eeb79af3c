// Constants of the container format (docs/pmodel-format.md).
#ifndef PTO_MLIR_LIB_PMODEL_LAYOUT_H
#define PTO_MLIR_LIB_PMODEL_LAYOUT_H

#include <cstddef>
#include <cstdint>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace pto_mlir::pmodel {

/// The first 64 bytes of a file, little-endian; read and written directly, so only little-endian hosts are supported.
struct FileHeader {
  char magic[8];
  uint32_t formatMajor;
  uint32_t formatMinor;
  uint64_t metadataBegin;
  uint64_t metadataSize;
  uint64_t metadataHash;
  uint64_t fileSize;
  uint64_t headerHash; // of the preceding bytes
  uint64_t zero;
};
static_assert(sizeof(FileHeader) == 64);

inline constexpr char fileMagic[9] = "PTOMODEL";
inline constexpr uint32_t formatMajor = 2; // 2: the VM's one table of opcodes
/// The newest minor version, which this reader understands. 1: several host programs, 2: state, sizes known at run
/// time, 3: outputs that begin with contents, 4: several ranks.
inline constexpr uint32_t formatMinor = 4;
/// A file is marked with this version, or with a newer one if it uses what came with that.
inline constexpr uint32_t oldestWrittenMinor = 1;
inline constexpr uint64_t sectionAlignment = 4096;
inline constexpr uint64_t weightAlignment = 64;
/// From `largeWeightBytes` on a weight begins with a line of L2, so that no line of it is fetched beside its own.
inline constexpr uint64_t largeWeightBytes = 4096, largeWeightAlignment = 512;

inline uint64_t contentHash(const void *data, size_t bytes) {
  // xxHash requires a non-null pointer even for 0 bytes.
  return XXH3_64bits(bytes ? data : "", bytes);
}

} // namespace pto_mlir::pmodel

#endif
