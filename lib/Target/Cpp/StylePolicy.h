// What the two styles of C++ differ in.
#ifndef PTO_MLIR_LIB_TARGET_CPP_STYLEPOLICY_H
#define PTO_MLIR_LIB_TARGET_CPP_STYLEPOLICY_H

#include "pto_mlir/Target/Cpp/Cpp.h"

namespace pto_mlir::cpp {

struct StylePolicy {
  unsigned indent;       // columns per level
  bool prologue;         // tensors and tiles in front of the body, as sections of their own; else where they are made
  bool argumentArray;    // arguments come as an array of words
  bool runTimeExtents;   // every tile's valid extents are arguments of its constructor
  bool unitPadding;      // strides of dimensions that the tensor does not have are 1; else those of a whole tensor
  bool deducedVariables; // `auto x = ..`; else with their types
  bool guardsCores;      // a kernel of one kind of core is compiled for that kind only
  bool drainsAtEnd;      // a kernel ends with a barrier of all engines
  llvm::StringRef bfloat16;
};

const StylePolicy &policyOf(Style style);

} // namespace pto_mlir::cpp

#endif
