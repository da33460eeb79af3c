// Equality and hash of structure. Places and names of variables do not count; which variable is meant does.
#ifndef PYPTO_IR_STRUCTURAL_H
#define PYPTO_IR_STRUCTURAL_H

#include "pypto/ir/node.h"

namespace pypto::ir {

/// Whether two nodes have one structure. Variables that both bind correspond by place, and so do those in the extents
/// of a function's parameters; free ones must be the same object, or with `enable_auto_mapping` correspond one to one.
bool structural_equal(const NodePtr &lhs, const NodePtr &rhs, bool enable_auto_mapping = false);
/// The same; where they differ, a ValueError with the path to the first difference and what stands there.
void assert_structural_equal(const NodePtr &lhs, const NodePtr &rhs, bool enable_auto_mapping = false);
/// Equal for structurally equal nodes. Without `enable_auto_mapping` it depends on the addresses of free variables.
uint64_t structural_hash(const NodePtr &node, bool enable_auto_mapping = false);

} // namespace pypto::ir

#endif // PYPTO_IR_STRUCTURAL_H
