// The type of a call from its row's rule.
#ifndef LIB_PYPTO_OPS_DEDUCE_H
#define LIB_PYPTO_OPS_DEDUCE_H

#include "pypto/ir/op_registry.h"

namespace pypto::ir {

/// TypeError or ValueError, without the operation's name, where the operands do not fit together.
TypePtr DeduceType(const OpView &call);

/// Equal stays; floats over integers, then the wider, then signed over unsigned.
DataType PromoteTypes(DataType a, DataType b);

// Arithmetic on extents; constants fold.
ExprPtr Constant(int64_t value);
ExprPtr AddExtents(const ExprPtr &a, const ExprPtr &b);
ExprPtr ScaleExtent(const ExprPtr &extent, int64_t factor, int64_t divisor);
bool SameExtent(const ExprPtr &a, const ExprPtr &b);
/// min(max(extent - offset, 0), size): what of a window holds data.
ExprPtr WindowExtent(const ExprPtr &extent, const ExprPtr &offset, const ExprPtr &size);
/// What vector core `lane`, 0 or 1, has of `extent` when both have a stride of `half`.
ExprPtr LaneExtent(const ExprPtr &extent, const ExprPtr &lane, int64_t half);

} // namespace pypto::ir

#endif // LIB_PYPTO_OPS_DEDUCE_H
