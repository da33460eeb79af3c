// Programs as `.pto` text.
#ifndef PYPTO_CODEGEN_PTO_PTO_CODEGEN_H
#define PYPTO_CODEGEN_PTO_PTO_CODEGEN_H

#include "pypto/codegen/memref_collector.h"
#include "pypto/ir/program.h"

#include <string>

namespace pypto::codegen {

/// "gm", "vec", "mat", ..: a memory space in `.pto`.
std::string MemorySpaceToMLIR(ir::MemorySpace space);
/// "f32", "ui8", ..: an element type in `.pto`.
std::string DataTypeToMLIRImpl(const DataType &dtype);

/// The `.pto` of a program's kernels, in one module, laid out as the seeds' sample: constants, views of all tensors,
/// tiles, operations.
class PTOCodegen {
public:
  /// ValueError, with its place, for what a kernel may not hold.
  std::string Generate(const ir::ProgramPtr &program);

  /// "f32".
  std::string GetTypeString(const DataType &dtype) const { return DataTypeToMLIRImpl(dtype); }
  /// "!pto.tensor_view<?x?xf32>".
  std::string GetTensorViewTypeString(const ir::TensorType *tensor_type) const;
  /// "!pto.tile_buf<loc=vec, dtype=f32, rows=32, ..>" of a buffer of the program generated last; ValueError for others.
  std::string GetTileBufTypeString(const ir::MemRef *memref) const;

private:
  MemRefCollectorVisitor memrefs_;
};

} // namespace pypto::codegen

#endif // PYPTO_CODEGEN_PTO_PTO_CODEGEN_H
