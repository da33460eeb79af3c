// The IR as text of the DSL.
#ifndef PYPTO_IR_PRINTER_H
#define PYPTO_IR_PRINTER_H

#include "pypto/ir/node.h"

namespace pypto::ir {

/// A program, function, statement, expression or type as Python text with `prefix` for pypto.language. Programs and
/// functions can be parsed again; variables of one name get suffixes.
std::string python_print(const NodePtr &node, std::string_view prefix = "pl");

/// The shortest text that reads back as the same number, with a point or an exponent; infinities as 1e999.
std::string FloatText(double value);

} // namespace pypto::ir

#endif // PYPTO_IR_PRINTER_H
