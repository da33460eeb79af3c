// Values of a variant's symbols, and the shapes that they give (docs/sizes.md).
#ifndef PTO_MLIR_PMODEL_SIZES_H
#define PTO_MLIR_PMODEL_SIZES_H

#include "pto_mlir/PModel/Model.h"
#include "pto_mlir/Support/Result.h"

namespace pto_mlir::pmodel {

/// The names of a variant's symbols, and the greatest value of each.
std::vector<std::string> symbolNames(const VariantDesc &variant);
std::vector<int64_t> greatestValues(const VariantDesc &variant);

/// The symbol of which `size` is a positive multiple, as the size of an input must be to determine it.
std::optional<uint32_t> symbolOf(const bytecode::Size &size);

/// Values of the symbols of a verified variant for inputs of these shapes, whose ranks are right. A failure names the
/// dimension that is out of range, no multiple, or disagrees with another.
Result<std::vector<int64_t>> solveSymbols(const VariantDesc &variant,
                                          const std::vector<std::vector<uint64_t>> &inputShapes);

/// The shape of an input or output of a verified variant.
std::vector<uint64_t> shapeFor(const TensorDesc &tensor, std::span<const int64_t> symbols);

/// For each kernel of a verified model the scalars of the launches at the greatest values of all symbols; where
/// launches differ, the greatest of each.
std::vector<std::vector<int64_t>> greatestScalars(const ModelDesc &model);

} // namespace pto_mlir::pmodel

#endif
