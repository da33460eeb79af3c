// C++ names of types and enumerators of the ISA's library.
#ifndef PTO_MLIR_LIB_TARGET_CPP_TYPES_H
#define PTO_MLIR_LIB_TARGET_CPP_TYPES_H

#include "StylePolicy.h"
#include "pto_mlir/Dialect/PTO/IR/PTO.h"

namespace pto_mlir::cpp {

/// `float`, `int32_t`, `__gm__ half*`; empty for a type that is no scalar, pointer or element.
std::string scalarType(mlir::Type type, const StylePolicy &policy);

/// `Tile<TileType::Vec, float, 32, 32, BLayout::RowMajor, 32, 32, ..>`; empty for an element type that has no C++.
std::string tileType(pto::TileBufType type, const StylePolicy &policy);

/// The arguments of its constructor: those extents that the type leaves open, from `rows` and `cols` (their text where
/// they are known at run time only).
std::string constructorArguments(pto::TileBufType type, llvm::StringRef rows, llvm::StringRef cols,
                                 const StylePolicy &policy);

/// An attribute as argument: an enumerator, a number; empty when it has no C++.
std::string attributeText(mlir::Attribute attribute);

} // namespace pto_mlir::cpp

#endif
