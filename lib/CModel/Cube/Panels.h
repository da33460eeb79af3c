// Operands of a matrix product in the form that the micro-kernel reads.
#ifndef PTO_MLIR_CMODEL_PANELS_H
#define PTO_MLIR_CMODEL_PANELS_H

#include "Arithmetic/Element.h"
#include "Cube/MatmulTask.h"
#include "Cube/PanelCache.h"

namespace pto_mlir::cmodel {

/// Fills left, leftBlockStride and leftStride from `a` (ZZ or NZ). A tile of C itself is read where it lies; another
/// one is widened into `cache`, whole boxes that hold valid elements.
template <class T, class C> void packLeft(MatmulTask<C> &task, PanelCache &cache, const LocalTile &a);

/// Fills panels from `b` (ZN): boxes with k innermost are transposed. Columns beyond the valid ones hold anything.
template <class T, class C> void packRight(MatmulTask<C> &task, PanelCache &cache, const LocalTile &b, unsigned lanes);

} // namespace pto_mlir::cmodel

#endif
