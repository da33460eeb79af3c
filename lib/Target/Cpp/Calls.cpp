// Calls of the ISA's library.
#include "FunctionEmitter.h"
#include "Said.h"
#include "Types.h"

using namespace mlir;

namespace pto_mlir::cpp {

void FunctionEmitter::moveTensors(Operation *op) {
  for (Value operand : op->getOperands())
    if (auto window = windows.find(operand); window != windows.end())
      out.line("TASSIGN(" + text(operand) + ", " + window->second + ");");
}

LogicalResult FunctionEmitter::libraryCall(Operation *op) {
  const CallForms *call = callForms(op);
  if (!call)
    return op->emitError() << "'" << op->getName() << "' has no C++: it is no op of the ISA's library";
  if (!call->whyNot.empty())
    return op->emitError() << "'" << op->getName() << "' has no C++: " << call->whyNot;
  Said said;
  call->say(op, said);
  std::string missing;
  std::optional<StringRef> form = chooseForm(*call, said, missing);
  if (!form)
    return op->emitError() << "'" << op->getName() << "' has no C++ with '" << missing << "'";
  std::string shown;
  for (Piece piece : piecesOf(*form)) {
    shown += piece.text;
    const auto *entry = llvm::find_if(said.entries, [&](const Said::Entry &e) { return e.name == piece.name; }).base();
    if (piece.name.empty())
      continue;
    if (entry->attribute)
      shown += attributeText(entry->attribute);
    llvm::raw_string_ostream stream(shown);
    llvm::interleaveComma(entry->values, stream,
                          [&](Value value) { stream << (piece.ofType ? typeText(value) : text(value).str()); });
  }
  moveTensors(op);
  if (op->getNumResults() == 0) {
    out.line(shown + (StringRef(shown).ends_with("}") ? "" : ";"));
    return success();
  }
  if (isPure(op))
    return define(op->getResult(0), shown);
  return defineVariable(op->getResult(0), shown);
}

} // namespace pto_mlir::cpp
