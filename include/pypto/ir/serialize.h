// The IR as bytes.
#ifndef PYPTO_IR_SERIALIZE_H
#define PYPTO_IR_SERIALIZE_H

#include "pypto/ir/node.h"

namespace pypto::ir {

/// All of a node, places and names included; what is shared stays shared. The same node gives the same bytes.
std::string serialize(const NodePtr &node);
/// The node. Bytes are not trusted: every node passes the checks of its constructor, functions and programs those of
/// VerifyFunction and VerifyProgram. One ValueError says what is wrong.
NodePtr deserialize(std::string_view bytes);

} // namespace pypto::ir

#endif // PYPTO_IR_SERIALIZE_H
