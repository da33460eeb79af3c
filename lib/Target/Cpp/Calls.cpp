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

/// The tiles that an op writes, scratch left out.
static SmallVector<Value> resultsOf(Operation *op) {
  SmallVector<Value> results;
  const CallForms *call = callForms(op);
  if (!call || !call->say)
    return results;
  Said said;
  call->say(op, said);
  for (const Said::Entry &entry : said.entries)
    if (entry.name == "dst" || entry.name == "dsts")
      llvm::copy_if(entry.values, std::back_inserter(results),
                    [](Value value) { return isa<pto::TileBufType>(value.getType()); });
  return results;
}

LogicalResult FunctionEmitter::observedCall(Operation *op) {
  bool timed = options.profiling && isa<pto::PipeOpInterface>(op);
  std::string site = std::to_string(sites), name = op->getName().stripDialect().upper();
  if (timed) {
    ++sites;
    out.line("PTO_PROFILE_BEGIN(" + site + ");");
  }
  if (failed(libraryCall(op)))
    return failure();
  if (timed)
    out.line("PTO_PROFILE_END(" + site + ", \"" + name + "\");");
  if (options.debugPrints)
    for (Value tile : resultsOf(op))
      out.line("TPRINT(" + text(tile) + ");");
  return success();
}

} // namespace pto_mlir::cpp
