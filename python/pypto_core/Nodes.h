// The part of the module that binds the IR.
#ifndef PYTHON_PYPTO_CORE_NODES_H
#define PYTHON_PYPTO_CORE_NODES_H

#include <nanobind/nanobind.h>

namespace pypto::python {

/// Classes of nodes, types, enumerations and places, into pypto.pypto_core.ir.
void bindNodes(nanobind::module_ &m);

} // namespace pypto::python

#endif // PYTHON_PYPTO_CORE_NODES_H
