// Types of the IR as pto-isa's C++ writes them.
#ifndef PYPTO_CODEGEN_TYPE_CONVERTER_H
#define PYPTO_CODEGEN_TYPE_CONVERTER_H

#include "pypto/core/dtype.h"
#include "pypto/ir/enums.h"

#include <string>
#include <vector>

namespace pypto::codegen {

class TypeConverter {
public:
  /// "float", "half", "int32_t". ValueError where C++ has none.
  std::string ConvertDataType(const DataType &dtype) const;
  /// "__gm__" for global memory, "" on chip.
  std::string ConvertMemorySpace(ir::MemorySpace space) const;
  /// "PIPE_MTE2".
  std::string ConvertPipeType(ir::PipeType pipe) const;
  /// "EVENT_ID3". ValueError outside 0 to 7.
  std::string ConvertEventId(int event_id) const;
  /// "Shape<1, 1, 1, 64, 32>": 1 to 5 extents with ones before them. ValueError for another number of them.
  std::string GenerateShapeType(const std::vector<int64_t> &dims) const;
  /// "Stride<1, 1, 1, 32, 1>": row-major strides of the shape, ones before them.
  std::string GenerateStrideType(const std::vector<int64_t> &shape) const;
};

} // namespace pypto::codegen

#endif // PYPTO_CODEGEN_TYPE_CONVERTER_H
