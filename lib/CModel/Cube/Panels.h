// Packing of matmul operands into the layout of the micro-kernel.
#ifndef PTO_MLIR_CMODEL_PANELS_H
#define PTO_MLIR_CMODEL_PANELS_H

#include "Arithmetic/Element.h"
#include "Cube/MatmulTask.h"
#include "Cube/PanelCache.h"

namespace pto_mlir::cmodel {

/// Sets left, leftBlockStride and leftStride from `a` (ZZ or NZ). A tile of element type C is used in place; others are
/// widened into `cache`, whole boxes that hold valid elements.
template <class T, class C> void packLeft(MatmulTask<C> &task, PanelCache &cache, const LocalTile &a);

/// Sets panels from `b` (ZN): boxes, whose innermost dimension is k, are transposed. Columns beyond the valid ones are
/// undefined.
template <class T, class C> void packRight(MatmulTask<C> &task, PanelCache &cache, const LocalTile &b, unsigned lanes);

} // namespace pto_mlir::cmodel

#endif
