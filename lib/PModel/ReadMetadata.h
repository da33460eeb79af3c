// FlatBuffers metadata -> ModelDesc.
#ifndef PTO_MLIR_LIB_PMODEL_READMETADATA_H
#define PTO_MLIR_LIB_PMODEL_READMETADATA_H

#include "PModel_generated.h"
#include "pto_mlir/PModel/Reader.h"

namespace pto_mlir::pmodel {

/// A bounds-checked section of the file.
struct Section {
  const uint8_t *data = nullptr;
  uint64_t size = 0;
  bool holds(const fb::Range *range) const {
    return range && range->size() <= size && range->begin() <= size - range->size();
  }
};

/// Fills `model` and `layout` from metadata that passed FlatBuffers' verifier. Fails on a range outside its section or
/// a missing table. Semantics are checked by verifyModel.
Status readModel(const fb::Model &metadata, const Section &commands, const Section &programs, const Section &weights,
                 ModelDesc &model, WeightLayout &layout);

} // namespace pto_mlir::pmodel

#endif
