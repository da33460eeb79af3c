// The pto-isa instruction of an operation.
#ifndef PYPTO_CODEGEN_ISA_MAPPER_H
#define PYPTO_CODEGEN_ISA_MAPPER_H

#include "pypto/ir/attr.h"

#include <unordered_map>

namespace pypto::codegen {

struct ISAMapping {
  std::string isa_name; ///< "TADD", "set_flag"
};

/// Filled from the table of operations.
class ISAMapper {
public:
  ISAMapper() { InitializeMappings(); }

  /// The mapping of an operation of any generation ("block.add", "tile.add"), nothing where it has none or more than
  /// one instruction. ValueError for `block.sum` without a constant axis of 0 or 1.
  std::optional<ISAMapping> GetMapping(const std::string &op_name, const ir::Attrs &attrs = {}) const;

private:
  void InitializeMappings();

  std::unordered_map<std::string, ISAMapping> mappings_; ///< by today's full name
};

} // namespace pypto::codegen

#endif // PYPTO_CODEGEN_ISA_MAPPER_H
